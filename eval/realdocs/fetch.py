#!/usr/bin/env python3
"""Downloads the documentation sets.

    python3 eval/realdocs/fetch.py OUT [SET...] [--of FOLDER]

Each set is one package; sets/<set>.json has its name, version and digest. The script downloads it with the client of its
registry (apt-get, pip, npm or cargo, as configured on this machine), checks the
digest, and writes the kept files to OUT/<set>/ (gzipped files are unpacked). Without SET it fetches all sets. A set
that already exists with the same digest is skipped.

Patterns in "keep": `*` and `?` stay inside one folder, `**` crosses folders, and a pattern that begins with
`!` excludes files that others keep. They are matched against the path inside the package; then the number of leading
folders given by "strip" is removed. Needs only the standard library.
"""

import argparse
import gzip
import hashlib
import io
import json
import lzma
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path, PurePosixPath

HERE = Path(__file__).resolve().parent
MAX_FILE_BYTES = 32 * 1024 * 1024


class FetchError(Exception):
    """A set that could not be fetched, with the reason."""


def load_set(path):
    """Reads and validates one description."""
    try:
        spec = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FetchError(f"{path}: {error}") from error
    for field in ("set", "package", "registry", "version", "sha256", "keep", "strip"):
        if field not in spec:
            raise FetchError(f"{path}: the field \"{field}\" is missing")
    if spec["set"] != path.stem:
        raise FetchError(f"{path}: \"set\" is {spec['set']!r}, the file's name says {path.stem!r}")
    if spec["registry"] not in CLIENTS:
        raise FetchError(f"{path}: unknown registry {spec['registry']!r}; known: {', '.join(CLIENTS)}")
    return spec


def run(command, folder):
    """Runs a client in a folder; shows its output only if it fails."""
    if shutil.which(command[0]) is None:
        raise FetchError(f"{command[0]} is not installed on this machine")
    print("  $", " ".join(command), flush=True)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = (done.stdout + done.stderr).strip().splitlines()[-8:]
        raise FetchError(f"{command[0]} ended with status {done.returncode}:\n    " + "\n    ".join(said))


def only_file(folder, patterns):
    """The single file that a client left in a folder."""
    found = sorted(path for pattern in patterns for path in folder.glob(pattern) if path.is_file())
    if len(found) != 1:
        raise FetchError(f"expected one downloaded file, found {[path.name for path in found]}")
    return found[0]


def from_debian(spec, folder):
    run(["apt-get", "download", f"{spec['package']}={spec['version']}"], folder)
    return only_file(folder, ["*.deb"])


def from_pypi(spec, folder):
    # Download only this package's source archive: ":all:" would also build the tools that pip needs to read it.
    run([sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", spec["package"],
         "--dest", ".", f"{spec['package']}=={spec['version']}"], folder)
    return only_file(folder, ["*.tar.gz", "*.zip"])


def from_npm(spec, folder):
    run(["npm", "pack", "--silent", f"{spec['package']}@{spec['version']}"], folder)
    return only_file(folder, ["*.tgz"])


def from_crates(spec, folder):
    """cargo has no download command: fetch a project that depends on the crate, and read its cache."""
    (folder / "src").mkdir()
    (folder / "src" / "lib.rs").write_text("")
    (folder / "Cargo.toml").write_text(
        '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n'
        f'[dependencies]\n"{spec["package"]}" = "={spec["version"]}"\n')
    run(["cargo", "fetch"], folder)
    home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    found = sorted(home.glob(f"registry/cache/*/{spec['package']}-{spec['version']}.crate"))
    if not found:
        raise FetchError("cargo fetched the crate, but it is not in its cache")
    return found[0]


CLIENTS = {"debian": from_debian, "pypi": from_pypi, "npm": from_npm, "crates": from_crates}


def data_of_deb(blob):
    """The data member of a Debian package as an uncompressed tar archive."""
    if not blob.startswith(b"!<arch>\n"):
        raise FetchError("not a Debian package")
    at = 8
    while at + 60 <= len(blob):
        name = blob[at:at + 16].decode("ascii", "replace").strip().rstrip("/")
        size = int(blob[at + 48:at + 58])
        body = blob[at + 60:at + 60 + size]
        if name == "data.tar.xz":
            return lzma.decompress(body)
        if name.startswith("data.tar"):
            return body
        at += 60 + size + size % 2
    raise FetchError("the Debian package holds no data")


def members(path):
    """Yields (path inside the package, bytes) for each regular file."""
    if path.suffix == ".zip":
        raise FetchError("a zip archive: choose a release that has a tar archive")
    blob = path.read_bytes()
    if path.suffix == ".deb":
        blob = data_of_deb(blob)
    with tarfile.open(fileobj=io.BytesIO(blob)) as archive:
        for member in archive:
            if not member.isfile() or member.size > MAX_FILE_BYTES:
                continue
            inside = PurePosixPath(member.name)
            parts = [part for part in inside.parts if part not in (".", "/")]
            if ".." not in parts:
                yield "/".join(parts), archive.extractfile(member).read()


def expression(pattern):
    """A pattern of "keep" as a regular expression."""
    out = ""
    for piece in re.split(r"(\*\*/|\*\*|\*|\?)", pattern):
        out += {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(piece, re.escape(piece))
    return re.compile(out + r"\Z")


def unpack(spec, package, target):
    """Writes the kept files and returns their number."""
    keep = [expression(pattern) for pattern in spec["keep"] if not pattern.startswith("!")]
    drop = [expression(pattern[1:]) for pattern in spec["keep"] if pattern.startswith("!")]
    count = 0
    for name, body in members(package):
        if not any(e.match(name) for e in keep) or any(e.match(name) for e in drop):
            continue
        rest = name.split("/")[spec["strip"]:]
        if not rest:
            raise FetchError(f"\"strip\" removes all of {name}")
        if rest[-1].endswith(".gz"):
            rest[-1], body = rest[-1].removesuffix(".gz"), gzip.decompress(body)
        path = target.joinpath(*rest)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
        count += 1
    if count == 0:
        raise FetchError("\"keep\" matches no file of the package")
    return count


def fetch(spec, out):
    target = out / spec["set"]
    mark = out / f"{spec['set']}.digest"
    print(f"{spec['set']}: {spec['package']} {spec['version']} ({spec['registry']})", flush=True)
    stamp = spec["sha256"] + " " + hashlib.sha256(json.dumps([spec["keep"], spec["strip"]]).encode()).hexdigest()
    if target.is_dir() and mark.is_file() and mark.read_text() == stamp:
        print("  already there")
        return
    with tempfile.TemporaryDirectory() as folder:
        package = CLIENTS[spec["registry"]](spec, Path(folder))
        digest = hashlib.sha256(package.read_bytes()).hexdigest()
        if digest != spec["sha256"]:
            raise FetchError(f"{package.name} has the digest {digest},\n    the set wants {spec['sha256']}")
        if target.exists() and any(target.iterdir()) and not mark.is_file():
            raise FetchError(f"{target} holds files that this program did not write; remove it first")
        mark.unlink(missing_ok=True)
        shutil.rmtree(target, ignore_errors=True)
        count = unpack(spec, package, target)
    wanted = spec.get("pages")
    if wanted is not None and wanted != count:
        raise FetchError(f"{count} pages were kept, the set says {wanted}")
    mark.write_text(stamp)
    print(f"  {count} pages in {target}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("out", type=Path, help="folder that the sets are written to")
    parser.add_argument("sets", nargs="*", metavar="SET", help="names of sets; all of them if none is named")
    parser.add_argument("--of", type=Path, default=HERE, metavar="FOLDER", help="folder whose sets to fetch [the yardstick's]")
    args = parser.parse_args()
    known = {path.stem: path for path in sorted((args.of / "sets").glob("*.json"))}
    failed = 0
    for name in args.sets or known:
        try:
            if name not in known:
                raise FetchError(f"no such set; known: {', '.join(known) or 'none'}")
            fetch(load_set(known[name]), args.out)
        except FetchError as error:
            failed += 1
            print(f"fetch: {name}: {error}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
