"""What all Python tests share."""

import hypothesis

# The same examples every time: a test that fails once fails again.
hypothesis.settings.register_profile("house", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("house")
