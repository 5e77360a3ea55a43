"""The report in a real browser: no complaints, the table sorts, a command is copied."""

import shutil

import pytest

from tests.unit.report.test_report import HOSTILE, write_page

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    not (BROWSER and DRIVER), reason="no browser: Debian's chromium and chromium-driver are not installed"
)
QUIET = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --window-size=1280,1000"
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = BROWSER
    for argument in [*QUIET.split(), f"--user-data-dir={tmp_path_factory.mktemp('profile')}"]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture
def page(browser, tmp_path):
    browser.get(write_page(tmp_path).as_uri())
    return browser


def column(page, table, place):
    rows = page.find_elements("css selector", f"#{table} tbody tr:not(.group)")
    return [row.find_elements("tag name", "td")[place].text for row in rows]


def groups(page):
    return len(page.find_elements("css selector", "#results tr.group"))


def test_nothing_is_complained_about_and_nothing_is_fetched(page):
    assert page.get_log("browser") == []
    fetched = page.execute_script("return performance.getEntriesByType('resource').map((entry) => entry.name)")
    assert [name for name in fetched if not name.startswith("data:")] == []
    assert page.title == "Made up" and HOSTILE in page.find_element("css selector", ".note").text


def test_the_table_sorts_up_down_and_back_and_what_has_no_value_stands_last(page):
    head = page.find_elements("css selector", "#results thead th")[3]
    assert column(page, "results", 3) == ["0.2500", "–", "0.4100a", "0.3400", "0.3000"] and groups(page) == 2
    head.click()
    assert column(page, "results", 3) == ["0.2500", "0.3000", "0.3400", "0.4100a", "–"] and groups(page) == 0
    assert head.get_attribute("aria-sort") == "ascending"
    head.click()
    assert column(page, "results", 3) == ["0.4100a", "0.3400", "0.3000", "0.2500", "–"]
    head.click()
    assert column(page, "results", 3) == ["0.2500", "–", "0.4100a", "0.3400", "0.3000"] and groups(page) == 2
    assert head.get_attribute("aria-sort") is None


def test_the_table_sorts_by_words_and_by_the_keyboard(page):
    page.find_elements("css selector", "#results thead th")[0].send_keys("\ue007")  # the Enter key
    assert column(page, "results", 0)[1:] == ["bm25", "doc2query", "epic", "slow"]


def test_a_command_is_copied(page):
    page.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
    button = page.find_elements("css selector", "#results button.copy")[1]
    button.click()
    read = "const done = arguments[0]; navigator.clipboard.readText().then(done, (error) => done(String(error)))"
    assert page.execute_async_script(read) == "snakemake epic 'x'"
    assert button.text == "copied"


def test_the_page_fits_a_phone(page):
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    assert page.execute_script("return document.documentElement.scrollWidth") <= 390
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_pointing_at_a_word_shows_its_weight(page):
    assert page.find_element("css selector", ".word").get_attribute("title") == "cost: 0.1"
