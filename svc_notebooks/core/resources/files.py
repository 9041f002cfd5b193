"""The TypedDicts of the storage interface for files, permissions, changes, channels and the About resource."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from ..http.messages import JSONObject
from .field import ABSENT, READ_ONLY, TIME, Field, Write

BINARY = Field(binary=True)
WRITABLE = Field(write=Write.ALWAYS)


class User(TypedDict, total=False):
    """A user of the storage interface."""

    kind: str
    displayName: str
    me: bool
    permissionId: str
    emailAddress: str
    photoLink: str


class Permission(TypedDict, total=False):
    """A permission, which gives a role for a file to a user, a group, a domain or anyone."""

    id: str
    kind: str
    type: Literal["user", "group", "domain", "anyone"]
    role: Literal["reader", "commenter", "writer", "owner"]
    emailAddress: str
    domain: str
    displayName: str
    photoLink: Annotated[str, ABSENT]
    allowFileDiscovery: bool
    deleted: Annotated[bool, ABSENT]
    expirationTime: Annotated[str, Field("time", never_set=True)]
    inheritedPermissionsDisabled: Annotated[bool, ABSENT]
    pendingOwner: Annotated[bool, ABSENT]
    permissionDetails: Annotated[list[JSONObject], ABSENT]
    teamDrivePermissionDetails: Annotated[list[JSONObject], ABSENT]
    view: Annotated[str, ABSENT]


class Page(TypedDict, total=False):
    """The fields of each page of a list, beside the list."""

    kind: str
    nextPageToken: str


class PermissionList(Page, total=False):
    """A page of a file's permissions."""

    permissions: list[Permission]


class Revision(TypedDict, total=False):
    """The current content of a file, the only revision that the service keeps."""

    id: str
    kind: str
    mimeType: str
    size: str
    md5Checksum: str
    originalFilename: str
    version: str
    modifiedTime: Annotated[str, TIME]
    keepForever: bool
    published: bool
    lastModifyingUser: User


class RevisionList(Page, total=False):
    """The revisions of a file."""

    revisions: list[Revision]


class DriveList(Page, total=False):
    """The shared drives, of which there are none."""

    drives: list[JSONObject]


class TeamDriveList(Page, total=False):
    """The shared drives under their former name."""

    teamDrives: list[JSONObject]


class FileCapabilities(TypedDict, total=False):
    """The actions on a file, each with True if the caller may perform the action."""

    canAddChildren: bool
    canChangeCopyRequiresWriterPermission: bool
    canChangeViewersCanCopyContent: bool
    canComment: bool
    canCopy: bool
    canDelete: bool
    canDeleteChildren: bool
    canDownload: bool
    canEdit: bool
    canListChildren: bool
    canModifyContent: bool
    canModifyContentRestriction: bool
    canMoveItemWithinDrive: bool
    canReadRevisions: bool
    canRemoveChildren: bool
    canRename: bool
    canShare: bool
    canTrash: bool
    canTrashChildren: bool
    canUntrash: bool


class ClientEncryptionDetails(TypedDict, total=False):
    """The metadata and state of a file's client-side encryption."""

    decryptionMetadata: str
    encryptionState: str


class ContentHints(TypedDict, total=False):
    """The text of a file for the search index, and a thumbnail, both provided by the client."""

    indexableText: str
    thumbnail: JSONObject


class ContentRestriction(TypedDict, total=False):
    """A restriction that makes a file's content read-only."""

    ownerRestricted: bool
    readOnly: bool
    reason: str
    restrictingUser: Annotated[User, ABSENT]
    restrictionTime: Annotated[str, ABSENT]
    systemRestricted: Annotated[bool, ABSENT]
    type: Annotated[str, ABSENT]


class DownloadRestrictions(TypedDict, total=False):
    """The restrictions that apply to downloads of a file."""

    effectiveDownloadRestrictionWithContext: str
    itemDownloadRestriction: str


class ImageMediaMetadata(TypedDict, total=False):
    """The width, height and rotation of an image."""

    height: int
    rotation: int
    width: int


class VideoMediaMetadata(TypedDict, total=False):
    """The width, height and duration of a video."""

    durationMillis: str
    height: int
    width: int


class LabelInfo(TypedDict, total=False):
    """The labels of a file."""

    labels: str


class LinkShareMetadata(TypedDict, total=False):
    """The status of the security update for a file's sharing link."""

    securityUpdateEligible: bool
    securityUpdateEnabled: bool


class ShortcutDetails(TypedDict, total=False):
    """The file to which a shortcut refers, with its id, media type and resource key."""

    targetId: Annotated[str, Field(required=True)]
    targetMimeType: Annotated[str, READ_ONLY]
    targetResourceKey: Annotated[str, READ_ONLY]


class File(TypedDict, total=False):
    """A file or a folder of the storage interface."""

    appProperties: Annotated[dict[str, str | None], WRITABLE]
    capabilities: FileCapabilities
    clientEncryptionDetails: Annotated[ClientEncryptionDetails, ABSENT]
    contentHints: Annotated[ContentHints, Field(write=Write.ALWAYS, stored=True)]
    contentRestrictions: Annotated[list[ContentRestriction], Field("objects", write=Write.ALWAYS, stored=True)]
    copyRequiresWriterPermission: Annotated[bool, Field(write=Write.ALWAYS, stored=True, default=False)]
    createdTime: Annotated[str, Field("time", write=Write.ALWAYS)]
    description: Annotated[str, Field(write=Write.ALWAYS, stored=True)]
    downloadRestrictions: Annotated[DownloadRestrictions, ABSENT]
    driveId: Annotated[str, ABSENT]
    explicitlyTrashed: bool
    exportLinks: dict[str, str]
    fileExtension: Annotated[str, BINARY]
    folderColorRgb: Annotated[str, Field("colour", write=Write.ALWAYS, stored=True)]
    fullFileExtension: Annotated[str, BINARY]
    hasAugmentedPermissions: Annotated[bool, ABSENT]
    hasThumbnail: bool
    headRevisionId: Annotated[str, BINARY]
    iconLink: Annotated[str, ABSENT]
    id: Annotated[str, Field(write=Write.CREATE)]
    imageMediaMetadata: Annotated[ImageMediaMetadata, ABSENT]
    inheritedPermissionsDisabled: Annotated[bool, ABSENT]
    isAppAuthorized: bool
    kind: str
    labelInfo: Annotated[LabelInfo, ABSENT]
    lastModifyingUser: User
    linkShareMetadata: Annotated[LinkShareMetadata, ABSENT]
    md5Checksum: Annotated[str, BINARY]
    mimeType: Annotated[str, Field("media", write=Write.ALWAYS)]
    modifiedByMe: bool
    modifiedByMeTime: Annotated[str, TIME]
    modifiedTime: Annotated[str, Field("time", write=Write.ALWAYS)]
    name: Annotated[str, WRITABLE]
    originalFilename: Annotated[str, Field(write=Write.ALWAYS, binary=True, stored=True)]
    ownedByMe: bool
    owners: list[User]
    parents: Annotated[list[str], Field("parents", write=Write.CREATE)]
    permissionIds: list[str]
    permissions: list[Permission]
    properties: Annotated[dict[str, str | None], WRITABLE]
    quotaBytesUsed: str
    resourceKey: Annotated[str, ABSENT]
    sha1Checksum: Annotated[str, BINARY]
    sha256Checksum: Annotated[str, BINARY]
    shared: bool
    sharedWithMeTime: Annotated[str, TIME]
    sharingUser: User
    shortcutDetails: Annotated[ShortcutDetails, Field("target", write=Write.CREATE)]
    size: Annotated[str, BINARY]
    spaces: list[str]
    starred: Annotated[bool, WRITABLE]
    teamDriveId: Annotated[str, ABSENT]
    thumbnailLink: Annotated[str, ABSENT]
    thumbnailVersion: str
    trashed: Annotated[bool, WRITABLE]
    trashedTime: Annotated[str, TIME]
    trashingUser: User
    version: str
    videoMediaMetadata: Annotated[VideoMediaMetadata, ABSENT]
    viewedByMe: bool
    viewedByMeTime: Annotated[str, Field("time", write=Write.ALWAYS)]
    viewersCanCopyContent: Annotated[bool, Field(write=Write.ALWAYS, stored=True, default=False)]
    webContentLink: Annotated[str, BINARY]
    webViewLink: str
    writersCanShare: Annotated[bool, Field(write=Write.ALWAYS, stored=True, default=True)]


class FileList(TypedDict, total=False):
    """A page of a list of files."""

    kind: str
    incompleteSearch: bool
    nextPageToken: str
    files: list[File]


class GeneratedIds(TypedDict, total=False):
    """A list of unused ids for new files."""

    kind: str
    space: str
    ids: list[str]


class StartPageToken(TypedDict, total=False):
    """The page token for the current end of the change log. A list from this token contains only later changes."""

    kind: str
    startPageToken: str


class Change(TypedDict, total=False):
    """An entry of the change log, which names a changed or removed file."""

    kind: str
    changeType: str
    type: str
    time: Annotated[str, TIME]
    removed: bool
    fileId: str
    file: File
    driveId: str
    drive: JSONObject
    teamDriveId: str
    teamDrive: JSONObject


class ChangeList(Page, total=False):
    """A page of the change log."""

    newStartPageToken: str
    changes: list[Change]


class ChannelResource(TypedDict, total=False):
    """A notification channel, as responses of the service describe it."""

    kind: str
    id: str
    resourceId: str
    resourceUri: str
    token: str
    expiration: int | str
    type: str
    address: str
    payload: bool
    params: dict[str, str]


class ChannelToOpen(TypedDict, total=False):
    """The request body that opens a notification channel."""

    id: Annotated[str, Field(required=True, schema_keywords={"minLength": 1, "maxLength": 64})]
    type: Annotated[Literal["web_hook", "webhook"], Field(required=True)]
    address: Annotated[str, Field("https", required=True)]
    token: Annotated[str | None, Field(schema_keywords={"maxLength": 256})]
    expiration: int | str | None
    payload: bool | None
    params: dict[str, str] | None


class StorageQuota(TypedDict, total=False):
    """The storage limit and the storage use of a user, in bytes."""

    limit: str
    usage: str
    usageInStorage: str
    usageInStorageTrash: str


class ImportTargets(TypedDict, total=False):
    """A media type and the native types to which content of the type can be converted."""

    source: str
    targets: list[str]


class About(TypedDict, total=False):
    """The caller, the caller's storage quota, and the conversions that the service offers."""

    kind: str
    user: User
    storageQuota: StorageQuota
    importFormats: dict[str, list[str]] | list[ImportTargets]
    exportFormats: dict[str, list[str]]
    maxImportSizes: dict[str, str]
    maxUploadSize: str
    appInstalled: bool
    folderColorPalette: list[str]
    canCreateDrives: bool
