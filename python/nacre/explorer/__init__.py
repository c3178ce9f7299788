"""The explorer, a web application on this machine that calls the functions of `nacre`.

`server` listens for connections, `doors` controls access, `jobs` runs work in threads, and `folder`
stores the results. Each page has a module in this package with its endpoints, and a module in
`static/pages` that displays it. This package contains no models and loads nothing from the network.
"""

from nacre.explorer.server import explore

__all__ = ["explore"]
