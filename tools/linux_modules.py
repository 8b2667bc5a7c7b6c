# SPDX-License-Identifier: Apache-2.0
"""The modules of a Linux kernel's Debian package: which ones a machine has to load, and in which order. Kernels differ in
what is a module, what is built in, and what depends on what: the package says it."""

import dataclasses
import lzma
import pathlib
import re
from collections.abc import Callable, Iterable

IMAGE = re.compile(r"boot/vmlinuz-.*|usr/lib/modules/[^/]*/vmlinuz")
# Where the modules of emulated machines are. The others are not read, because they are hundreds of megabytes.
FOLDERS = re.compile(r"/kernel/(arch/[^/]+/crypto|block|crypto|drivers/(block|dax|iommu|md|nvme|vfio)|fs|lib|virt)/")


def canonical(name: str) -> str:
    """A module's name as the kernel writes it. The name of its file may have dashes."""
    return name.replace("-", "_")


def facts(module: bytes, key: str) -> list[str]:
    """What a module says about itself, such as its aliases."""
    found = re.findall(rb"(?<=\0)%s=([^\0]*)(?=\0)" % key.encode(), module)
    return [text.decode() for text in found]


def depends(module: bytes) -> list[str]:
    """The modules on which a module depends. They do not include what is built into the kernel."""
    return [canonical(name) for text in facts(module, "depends") for name in text.split(",") if name]


def soft_depends(module: bytes) -> list[str]:
    """Names or aliases of modules that a module requests later, such as an algorithm."""
    found = [re.search(r"pre: (.*?)(?= post:|$)", text) for text in facts(module, "softdep")]
    return [name for match in found if match for name in match[1].split()]


@dataclasses.dataclass
class Kernel:
    image: bytes = b""
    modules: dict[str, bytes] = dataclasses.field(default_factory=dict)
    built_in: set[str] = dataclasses.field(default_factory=set)

    def providers(self, name: str) -> list[str]:
        """The modules of this name or alias. There is none if it is built in. Of several that implement an algorithm, the
        generic one is taken, because the others need certain processors."""
        if canonical(name) in self.modules:
            return [canonical(name)]
        found = sorted(stem for stem, module in self.modules.items() if name in facts(module, "alias"))
        return [stem for stem in found if stem.endswith("_generic")] or found

    def needed_by(self, name: str) -> list[str]:
        module = self.modules[name]
        return depends(module) + [one for soft in soft_depends(module) for one in self.providers(soft)]

    def in_order(self, wanted: Iterable[str]) -> list[str]:
        """The modules to load for `wanted`, each after those that it needs."""
        order: list[str] = []

        def visit(name: str) -> None:
            if name not in order:
                assert name in self.modules, f"the kernel's package has no module {name}"
                for needed in self.needed_by(name):
                    visit(needed)
                order.append(name)

        for name in map(canonical, wanted):
            if name not in self.built_in:
                visit(name)
        return order


def stem(name: str) -> str:
    """The module's name, of the name of its file."""
    return canonical(pathlib.PurePosixPath(name).name.split(".ko")[0])


def read(files: Iterable[tuple[str, str | None, Callable[[], bytes] | None]]) -> Kernel:
    """The kernel in the files of its packages: (name, link target or None, how to read it)."""
    kernel = Kernel()
    for name, _, content in files:
        if content is None:
            continue
        if IMAGE.fullmatch(name):
            kernel.image = content()
        elif name.endswith("/modules.builtin"):
            kernel.built_in = {stem(line) for line in content().decode().splitlines()}
        elif FOLDERS.search(name) and name.endswith(".ko"):
            kernel.modules[stem(name)] = content()
        elif FOLDERS.search(name) and name.endswith(".ko.xz"):
            kernel.modules[stem(name)] = lzma.decompress(content())
    assert kernel.image, "the kernel's package has no kernel"
    return kernel
