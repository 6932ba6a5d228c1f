"""Published collections of images: files, checksums, mirrors, licences."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath


@dataclass(frozen=True)
class OfficialFile:
    """One file as its publisher offers it."""

    path: str
    """Below the data folder, laid out as torchvision lays it out."""
    md5: str
    unpacked: tuple[str, ...] = ()
    """The files inside that are used; these alone, as torchvision leaves them, do as well."""

    @property
    def name(self) -> str:
        return PurePosixPath(self.path).name


@dataclass(frozen=True)
class Collection:
    """A published set of images that one or more domains are cut from."""

    name: str
    title: str
    homepage: str
    licence: str
    megabytes: int
    """About how much there is to download."""
    mirrors: tuple[str, ...]
    """Addresses to put a file's name after, tried in turn."""
    files: tuple[OfficialFile, ...]


def _idx_files(folder: str, checksums: dict[str, str]) -> tuple[OfficialFile, ...]:
    return tuple(
        OfficialFile(f"{folder}/raw/{name}.gz", md5, unpacked=(f"{folder}/raw/{name}",))
        for name, md5 in checksums.items()
    )


MNIST = Collection(
    name="MNIST",
    title="MNIST",
    homepage="https://yann.lecun.com/exdb/mnist/",
    licence="CC BY-SA 3.0",
    megabytes=12,
    mirrors=(
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        "https://storage.googleapis.com/cvdf-datasets/mnist/",
    ),
    files=_idx_files(
        "MNIST",
        {
            "train-images-idx3-ubyte": "f68b3c2dcbeaaa9fbdd348bbdeb94873",
            "train-labels-idx1-ubyte": "d53e105ee54ea40749a09fcbcd1e9432",
            "t10k-images-idx3-ubyte": "9fb629c4189551a2d022fa330f9573f3",
            "t10k-labels-idx1-ubyte": "ec29112dd5afa0611ce80d1b7f02629c",
        },
    ),
)

FASHION = Collection(
    name="FashionMNIST",
    title="Fashion-MNIST",
    homepage="https://github.com/zalandoresearch/fashion-mnist",
    licence="MIT",
    megabytes=31,
    mirrors=(
        "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
        "https://fashion-mnist.s3.eu-central-1.amazonaws.com/",
    ),
    files=_idx_files(
        "FashionMNIST",
        {
            "train-images-idx3-ubyte": "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
            "train-labels-idx1-ubyte": "25c81989df183df01b3e8a0aad5dffbe",
            "t10k-images-idx3-ubyte": "bef4ecab320f06d8554ea6380940ec79",
            "t10k-labels-idx1-ubyte": "bb300cfdad3c16e7a12a480ee83cd310",
        },
    ),
)

EMNIST = Collection(
    name="EMNIST",
    title="EMNIST letters",
    homepage="https://www.nist.gov/itl/products-and-services/emnist-dataset",
    licence="public domain (NIST)",
    megabytes=562,
    mirrors=("https://biometrics.nist.gov/cs_links/EMNIST/",),
    files=(
        OfficialFile(
            "EMNIST/raw/gzip.zip",
            "58c8d27c78d21e728a6bc7b3cc06412e",
            unpacked=tuple(
                f"EMNIST/raw/emnist-letters-{split}-{part}-ubyte"
                for split in ("train", "test")
                for part in ("images-idx3", "labels-idx1")
            ),
        ),
    ),
)

K49 = Collection(
    name="Kuzushiji49",
    title="Kuzushiji-49",
    homepage="https://codh.rois.ac.jp/kmnist/",
    licence="CC BY-SA 4.0",
    megabytes=75,
    mirrors=("https://codh.rois.ac.jp/kmnist/dataset/k49/",),
    files=(
        OfficialFile("Kuzushiji49/k49-train-imgs.npz", "7ac088b20481cf51dcd01ceaab89d821"),
        OfficialFile("Kuzushiji49/k49-train-labels.npz", "44a8e1b893f81e63ff38d73cad420f7a"),
        OfficialFile("Kuzushiji49/k49-test-imgs.npz", "d352e201d846ce6b94f42c990966f374"),
        OfficialFile("Kuzushiji49/k49-test-labels.npz", "4da6f7a62e67a832d5eb1bd85c5ee448"),
    ),
)

CIFAR10 = Collection(
    name="CIFAR10",
    title="CIFAR-10",
    homepage="https://www.cs.toronto.edu/~kriz/cifar.html",
    licence="none stated; cite Krizhevsky 2009",
    megabytes=170,
    mirrors=("https://www.cs.toronto.edu/~kriz/",),
    files=(
        OfficialFile(
            "cifar-10-binary.tar.gz",
            "c32a1d4ab5d03f1284b67883e8d87530",
            unpacked=tuple(
                f"cifar-10-batches-bin/{batch}.bin"
                for batch in (*(f"data_batch_{number}" for number in range(1, 6)), "test_batch")
            ),
        ),
    ),
)

CIFAR100 = Collection(
    name="CIFAR100",
    title="CIFAR-100",
    homepage="https://www.cs.toronto.edu/~kriz/cifar.html",
    licence="none stated; cite Krizhevsky 2009",
    megabytes=169,
    mirrors=("https://www.cs.toronto.edu/~kriz/",),
    files=(
        OfficialFile(
            "cifar-100-binary.tar.gz",
            "03b5dce01913d631647c71ecec9e9cb8",
            unpacked=("cifar-100-binary/train.bin", "cifar-100-binary/test.bin"),
        ),
    ),
)

SVHN = Collection(
    name="SVHN",
    title="SVHN",
    homepage="http://ufldl.stanford.edu/housenumbers/",
    licence="non-commercial use only",
    megabytes=246,
    mirrors=("https://ufldl.stanford.edu/housenumbers/",),
    files=(
        OfficialFile("train_32x32.mat", "e26dedcc434d2e4c54c9b2d4a06d8373"),
        OfficialFile("test_32x32.mat", "eb5a983be6a315427106f1b164d9cef3"),
    ),
)

DTD = Collection(
    name="DTD",
    title="DTD",
    homepage="https://www.robots.ox.ac.uk/~vgg/data/dtd/",
    licence="for research purposes",
    megabytes=625,
    mirrors=("https://www.robots.ox.ac.uk/~vgg/data/dtd/download/",),
    files=(
        OfficialFile(
            "dtd/dtd-r1.0.1.tar.gz",
            "fff73e5086ae6bdbea199a49dfb8a4c1",
            unpacked=tuple(f"dtd/dtd/labels/{split}1.txt" for split in ("train", "val", "test")),
        ),
    ),
)
