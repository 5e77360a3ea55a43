"""An experiment's settings as training and the choice of cut-offs see them: of all models, but for what a model says itself."""

from epic.experiment.lookup import AT_A_TIME, find


def train_of(settings: dict, model: str) -> dict:
    """Return the settings of a model's training: those of all models, but for what it says itself."""
    return settings["train"] | find(settings["models"], model, "model").get("train", {})


def tune_of(settings: dict, model: str) -> dict:
    """Return the settings for the choice of a model's cut-off: those of all models, but for what it says itself."""
    return settings["tune"] | find(settings["models"], model, "model").get("tune", {})


def triples_of(settings: dict, model: str) -> int:
    """Return the number of triples that a model's training may use; members are trained on consecutive ones."""
    train, members = train_of(settings, model), find(settings["models"], model, "model")["settings"].get("members", 1)
    return train["max_validations"] * train["validate_every"] * members


def watched_training(settings: dict, model: str) -> dict:
    """Return the settings of a model's training, but for those that no result depends on: they are no params."""
    return {key: value for key, value in train_of(settings, model).items() if key not in AT_A_TIME}


def training_setting(key: str):
    """Return the lookup of one setting of a model's training."""
    return lambda settings, model: train_of(settings, model)[key]


def max_cutoff(settings: dict, model: str) -> int:
    """Return the deepest cut-off that is tried for a model."""
    return tune_of(settings, model)["max_cutoff"]


def min_cutoff(settings: dict, model: str) -> int:
    """Return the smallest cut-off that may be chosen for a model."""
    return tune_of(settings, model).get("min_cutoff", 1)


def trained_on(settings: dict) -> dict:
    """Return what a model card says of the data."""
    return {key: settings[key] for key in ("data", "triples")}
