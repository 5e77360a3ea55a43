"""Every line that depends on the device, exercised without one: on `card:0`, a device that only this folder knows."""
