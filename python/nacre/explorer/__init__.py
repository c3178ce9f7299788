"""The explorer: a web application on this machine that calls the functions of `nacre`.

`server` listens and ends, `doors` controls access, `jobs` are running work, `folder` keeps the
results. Each page has a module here that answers it, and one in `static/pages` that
shows it. No model lives here, and nothing is fetched from elsewhere.
"""

from nacre.explorer.server import explore

__all__ = ["explore"]
