"""Labels of points: near to them, and never on top of each other."""

import pytest
from matplotlib import pyplot

from epic.report.labels import Label, place


@pytest.fixture
def axes():
    figure, axes = pyplot.subplots(figsize=(4, 3), layout="constrained")
    axes.set(xlim=(0, 10), ylim=(0, 10))
    yield axes
    pyplot.close(figure)


def boxes(texts):
    return [text.get_window_extent() for text in texts]


def test_a_label_alone_stands_to_the_right_of_its_point_and_to_the_left_where_the_axes_end(axes):
    axes.plot([5, 9.9], [5, 2], "o")
    near, edge = boxes(place(axes, [Label((5, 5), "a name"), Label((9.9, 2), "a name at the edge")]))
    spots = axes.transData.transform([(5, 5), (9.9, 2)])
    assert 0 < near.x0 - spots[0][0] < 15 and near.y0 < spots[0][1] < near.y1 and edge.x1 < spots[1][0]


def test_labels_of_points_beside_each_other_do_not_overlap_nor_cover_a_point_or_a_line(axes):
    points = [(4 + 0.2 * step, 5 + 0.1 * (step % 2)) for step in range(8)]
    axes.plot(*zip(*points, strict=True), "o-")
    found = boxes(place(axes, [Label(point, f"system {number}") for number, point in enumerate(points)]))
    assert not [1 for number, one in enumerate(found) for two in found[:number] if one.overlaps(two)]
    assert not [1 for box in found for spot in axes.transData.transform(points) if box.contains(*spot)]


def test_the_same_words_are_written_once_for_points_that_touch_and_again_for_one_far_away(axes):
    texts = place(axes, [Label((5, 5), "full"), Label((5.1, 5.1), "full"), Label((1, 1), "full"), Label((5, 5), "100")])
    assert [text.get_text() for text in texts] == ["full", "full", "100"]


def test_where_there_is_no_room_a_label_is_written_all_the_same(axes):
    crowd = [Label((5, 5), f"a system with a long name, number {number}") for number in range(60)]
    assert len(place(axes, crowd)) == 60
