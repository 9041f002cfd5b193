"""The resources of the storage interface, which are files, permissions, changes, channels and about."""

from __future__ import annotations

from typing import TypedDict

from ..http.messages import JSONObject


class User(TypedDict, total=False):
    """A user of the storage interface."""

    kind: str
    displayName: str
    me: bool
    permissionId: str
    emailAddress: str
    photoLink: str


class Permission(TypedDict, total=False):
    """A role on a file for a user, a group, a domain or anyone."""

    id: str
    kind: str
    type: str
    role: str
    emailAddress: str
    domain: str
    displayName: str
    photoLink: str
    allowFileDiscovery: bool
    deleted: bool
    expirationTime: str
    inheritedPermissionsDisabled: bool
    pendingOwner: bool
    permissionDetails: list[JSONObject]
    teamDrivePermissionDetails: list[JSONObject]
    view: str


class PermissionList(TypedDict, total=False):
    """A page of a file's permissions."""

    kind: str
    nextPageToken: str
    permissions: list[Permission]


class FileCapabilities(TypedDict, total=False):
    """The actions on a file that the caller is allowed."""

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
    """The client-side encryption of a file."""

    decryptionMetadata: str
    encryptionState: str


class ContentHints(TypedDict, total=False):
    """Text and a thumbnail for the search index."""

    indexableText: str
    thumbnail: JSONObject


class ContentRestriction(TypedDict, total=False):
    """A lock on a file's content."""

    ownerRestricted: bool
    readOnly: bool
    reason: str
    restrictingUser: User
    restrictionTime: str
    systemRestricted: bool
    type: str


class DownloadRestrictions(TypedDict, total=False):
    """The restrictions on downloading a file."""

    effectiveDownloadRestrictionWithContext: str
    itemDownloadRestriction: str


class ImageMediaMetadata(TypedDict, total=False):
    """The size of an image."""

    height: int
    rotation: int
    width: int


class VideoMediaMetadata(TypedDict, total=False):
    """The size and duration of a video."""

    durationMillis: str
    height: int
    width: int


class LabelInfo(TypedDict, total=False):
    """The labels of a file."""

    labels: str


class LinkShareMetadata(TypedDict, total=False):
    """The security update of a file's sharing link."""

    securityUpdateEligible: bool
    securityUpdateEnabled: bool


class ShortcutDetails(TypedDict, total=False):
    """The target of a shortcut."""

    targetId: str
    targetMimeType: str
    targetResourceKey: str


class File(TypedDict, total=False):
    """A file or folder."""

    appProperties: dict[str, str | None]
    capabilities: FileCapabilities
    clientEncryptionDetails: ClientEncryptionDetails
    contentHints: ContentHints
    contentRestrictions: list[ContentRestriction]
    copyRequiresWriterPermission: bool
    createdTime: str
    description: str
    downloadRestrictions: DownloadRestrictions
    driveId: str
    explicitlyTrashed: bool
    exportLinks: dict[str, str]
    fileExtension: str
    folderColorRgb: str
    fullFileExtension: str
    hasAugmentedPermissions: bool
    hasThumbnail: bool
    headRevisionId: str
    iconLink: str
    id: str
    imageMediaMetadata: ImageMediaMetadata
    inheritedPermissionsDisabled: bool
    isAppAuthorized: bool
    kind: str
    labelInfo: LabelInfo
    lastModifyingUser: User
    linkShareMetadata: LinkShareMetadata
    md5Checksum: str
    mimeType: str
    modifiedByMe: bool
    modifiedByMeTime: str
    modifiedTime: str
    name: str
    originalFilename: str
    ownedByMe: bool
    owners: list[User]
    parents: list[str]
    permissionIds: list[str]
    permissions: list[Permission]
    properties: dict[str, str | None]
    quotaBytesUsed: str
    resourceKey: str
    sha1Checksum: str
    sha256Checksum: str
    shared: bool
    sharedWithMeTime: str
    sharingUser: User
    shortcutDetails: ShortcutDetails
    size: str
    spaces: list[str]
    starred: bool
    teamDriveId: str
    thumbnailLink: str
    thumbnailVersion: str
    trashed: bool
    trashedTime: str
    trashingUser: User
    version: str
    videoMediaMetadata: VideoMediaMetadata
    viewedByMe: bool
    viewedByMeTime: str
    viewersCanCopyContent: bool
    webContentLink: str
    webViewLink: str
    writersCanShare: bool


class FileToUpdate(TypedDict, total=False):
    """The fields of a file that a client may change. None clears one."""

    appProperties: dict[str, str | None] | None
    contentHints: ContentHints | None
    contentRestrictions: list[ContentRestriction] | None
    copyRequiresWriterPermission: bool | None
    createdTime: str | None
    description: str | None
    folderColorRgb: str | None
    mimeType: str | None
    modifiedTime: str | None
    name: str | None
    originalFilename: str | None
    properties: dict[str, str | None] | None
    starred: bool | None
    trashed: bool | None
    viewedByMeTime: str | None
    viewersCanCopyContent: bool | None
    writersCanShare: bool | None


class FileToCreate(FileToUpdate, total=False):
    """The fields of a file that a client may set when it creates or copies one."""

    id: str | None
    parents: list[str] | None
    shortcutDetails: ShortcutDetails | None


class FileList(TypedDict, total=False):
    """A page of files."""

    kind: str
    incompleteSearch: bool
    nextPageToken: str
    files: list[File]


class GeneratedIds(TypedDict, total=False):
    """Unused file ids."""

    kind: str
    space: str
    ids: list[str]


class StartPageToken(TypedDict, total=False):
    """The page token of the change log's end."""

    kind: str
    startPageToken: str


class Change(TypedDict, total=False):
    """An entry of the change log."""

    kind: str
    changeType: str
    type: str
    time: str
    removed: bool
    fileId: str
    file: File
    driveId: str
    drive: JSONObject
    teamDriveId: str
    teamDrive: JSONObject


class ChangeList(TypedDict, total=False):
    """A page of the change log."""

    kind: str
    nextPageToken: str
    newStartPageToken: str
    changes: list[Change]


class ChannelResource(TypedDict, total=False):
    """A notification channel."""

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
    """The body of a request for a notification channel."""

    id: str
    type: str
    address: str
    token: str | None
    expiration: int | str | None
    payload: bool | None
    params: dict[str, str] | None


class StorageQuota(TypedDict, total=False):
    """The storage limit of a user and its usage, in bytes."""

    limit: str
    usage: str
    usageInStorage: str
    usageInStorageTrash: str


class ImportTargets(TypedDict, total=False):
    """A media type and the native types that it can be converted to."""

    source: str
    targets: list[str]


class About(TypedDict, total=False):
    """The caller, their quota, and the conversions that the service offers."""

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
