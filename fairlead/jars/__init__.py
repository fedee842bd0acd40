"""The pinned jars: downloaded once into a cache, verified by SHA-256, never resolved at start."""

from fairlead.jars.fetch import JarFetcher, ensure_jars
from fairlead.jars.manifest import Jar, JarSet, load_jar_set
from fairlead.jars.store import JarStore, cache_root

__all__ = ["Jar", "JarFetcher", "JarSet", "JarStore", "cache_root", "ensure_jars", "load_jar_set"]
