"""The toolbar of the file browser: the common actions as buttons, and the others in a menu.

A button is disabled if its action is not possible for the selected files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import ipywidgets as widgets

from ...widgets.field import Menu, set_visible

if TYPE_CHECKING:
    from ....core.resources.files import File

Condition: TypeAlias = "Callable[[Sequence[File]], bool]"


def _is_single(files: Sequence[File]) -> bool:
    return len(files) == 1


def _may(capability: str) -> Condition:
    """Return the condition that the service allows an action for at least one of the files."""
    return lambda files: any(_allows(file, capability) for file in files)


def _one_may(capability: str) -> Condition:
    return lambda files: len(files) == 1 and _allows(files[0], capability)


def _can_replace(files: Sequence[File]) -> bool:
    """Return whether the user can replace the content of the only selected file. Folders have no content."""
    return len(files) == 1 and _allows(files[0], "canModifyContent") and not _is_folder(files[0])


def _is_folder(file: File) -> bool:
    return (file.get("capabilities") or {}).get("canListChildren") is True


def _can_download(files: Sequence[File]) -> bool:
    """Return whether a file has content, or is a folder, which is downloaded with everything below it."""
    return any(_allows(file, "canDownload") or _is_folder(file) for file in files)


def _can_trash(files: Sequence[File]) -> bool:
    return any(_allows(file, "canTrash") and not file.get("trashed") for file in files)


def _allows(file: File, capability: str) -> bool:
    """Return False if the service says that the user cannot do this with the file."""
    return dict(file.get("capabilities") or {}).get(capability) is not False


@dataclass(frozen=True, slots=True)
class ToolbarAction:
    """An action of the toolbar. `condition` returns whether it is possible for the selected files."""

    key: str
    text: str
    icon: str
    tooltip: str
    condition: Condition | None


# fmt: off
_ACTIONS = (
    ToolbarAction("folder",   "New",      "plus",        "Create a folder, a file or a native document here", None),
    ToolbarAction("open",     "Open",     "folder-open", "Open the folder or preview the file", _is_single),
    ToolbarAction("download", "Download", "download",    "Save the selected files", _can_download),
    ToolbarAction("rename",   "Rename",   "edit",        "Rename the selected file", _one_may("canRename")),
    ToolbarAction("share",    "Share",    "share-alt",   "Share the files with somebody", _may("canShare")),
    ToolbarAction("trash",    "Trash",    "trash",       "Move the files to the trash", _can_trash),
    ToolbarAction("untrash",  "Restore",  "undo",        "Restore the files from the trash", _may("canUntrash")),
)
_MENU = (
    ToolbarAction("move",     "Move",            "arrow-right", "Move to a folder", _may("canMoveItemWithinDrive")),
    ToolbarAction("copy",     "Copy",            "copy",        "Copy the selected files", _may("canCopy")),
    ToolbarAction("replace",  "Replace content", "upload",      "Upload new content for the file", _can_replace),
    ToolbarAction("details",  "All fields",      "info-circle", "Show all metadata of the selected file", _is_single),
    ToolbarAction("delete",   "Delete",          "times",       "Delete the files permanently", _may("canDelete")),
)
# fmt: on


class FileToolbar(widgets.HBox):  # type: ignore[misc]
    """The buttons of the actions. `buttons` has them by key. A click calls `pressed` with the key.

    `focus_lost` is called after the button that was pressed last has become disabled, because a disabled button has
    no keyboard focus.
    """

    def __init__(self, upload: widgets.Widget, pressed: Callable[[str], None], focus_lost: Callable[[], None]) -> None:
        self._focus_lost = focus_lost
        self._last_pressed = ""
        self._conditions = {action.key: action.condition for action in (*_ACTIONS, *_MENU)}
        self.buttons = {action.key: _button(action) for action in (*_ACTIONS, *_MENU)}
        self.menu = Menu("More", "Further actions", [self.buttons[action.key] for action in _MENU])
        for key, button in self.buttons.items():
            button.on_click(lambda _button, key=key: self._press(key, pressed))
        super().__init__([upload, *(self.buttons[action.key] for action in _ACTIONS), self.menu])
        self.add_class("svc-buttons")
        self.add_class("svc-toolbar")

    def show(self, files: Sequence[File], *, in_folder: bool, in_trash: bool) -> None:
        """Enable the buttons of the possible actions for the selected files, and show Restore instead of Trash."""
        restoring = in_trash or any(file.get("trashed") for file in files)
        set_visible(self.buttons["trash"], not restoring)
        set_visible(self.buttons["untrash"], restoring)
        for key, condition in self._conditions.items():
            self.buttons[key].disabled = not (condition(files) if condition else in_folder)
        if self._last_pressed and self.buttons[self._last_pressed].disabled:
            self._last_pressed = ""
            self._focus_lost()

    def focus(self, key: str) -> None:
        """Focus a button, or the menu that has the button."""
        button = self.buttons[key]
        (self.menu.button if button in self.menu.items else button).focus()

    def _press(self, key: str, pressed: Callable[[str], None]) -> None:
        self._last_pressed = key
        pressed(key)


def _button(action: ToolbarAction) -> widgets.Button:
    return widgets.Button(description=action.text, icon=action.icon, tooltip=action.tooltip)
