"""The one exception tree: what failed, where, and what to do about it.

HarnessmarkError
├── UsageError                 the command was called wrongly                      exit 1
├── ConfigurationError         a file or a setting of the user's is wrong          exit 1
│   ├── DatasetError           a dataset file has faults (all of them listed)
│   └── RepositoryError        a task's repository or ref cannot be had
│       └── ChangeRefused      what an agent changed cannot be made into a patch
├── StoreError                 the results store cannot be read or written         exit 4
│   ├── PathEscapeError        a name would leave its root
│   ├── RecordError            a record file is not what it says it is
│   ├── NewerRecordError       a record was written by a newer Harnessmark
│   ├── OverwriteError         a record that exists would be changed
│   └── SecretFound            what is to be written holds a secret
├── ImportFailure              other people's results could not be read            exit 1
├── EndpointError              a model endpoint failed or answered nonsense        exit 3
└── PublishError               the site could not be built, checked or pushed      exit 4
"""

from __future__ import annotations


class HarnessmarkError(Exception):
    """A failure that a user can understand.

    Args:
        what: what failed, one sentence.
        where: the file, key, address or command it failed at.
        remedy: what the user can do about it.
    """

    exit_code = 4

    def __init__(self, what: str, *, where: str = "", remedy: str = "") -> None:
        self.what = what
        self.where = where
        self.remedy = remedy
        super().__init__(self.message())

    def message(self) -> str:
        """The failure as the user reads it, one line per part."""
        parts = [self.what]
        if self.where:
            parts.append(f"  where: {self.where}")
        if self.remedy:
            parts.append(f"  what to do: {self.remedy}")
        return "\n".join(parts)


class UsageError(HarnessmarkError):
    """The command was called with arguments that cannot be served."""

    exit_code = 1


class ConfigurationError(HarnessmarkError):
    """A file or a setting of the user's is wrong."""

    exit_code = 1


class DatasetError(ConfigurationError):
    """A dataset file has faults; the message lists every one with its line."""


class RepositoryError(ConfigurationError):
    """A task's repository or ref cannot be had."""


class ChangeRefused(RepositoryError):
    """What an agent changed cannot be made into a patch: it is too large, or nothing that can be read."""


class StoreError(HarnessmarkError):
    """The results store cannot be read or written."""


class PathEscapeError(StoreError):
    """A name would lead to a path outside its root."""


class RecordError(StoreError):
    """A record file does not hold what its kind and version promise."""


class NewerRecordError(StoreError):
    """A record was written by a newer Harnessmark than this one."""


class OverwriteError(StoreError):
    """A record that exists already would be changed."""


class SecretFound(StoreError):
    """What is about to be written holds a secret; the message says where, never what."""


class ImportFailure(HarnessmarkError):
    """Other people's results could not be read."""

    exit_code = 1


class EndpointError(HarnessmarkError):
    """A model endpoint failed or answered something that is no answer."""

    exit_code = 3


class PublishError(HarnessmarkError):
    """The site could not be built, checked or pushed."""
