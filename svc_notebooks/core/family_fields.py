"""The names of fields that the family has and this service never fills. The parameter `fields` accepts them."""

from __future__ import annotations

from .field_mask import ANY_KEY, Mask, Shape, parse

_DETAILS = "inherited,inheritedFrom,permissionType,role,teamDrivePermissionType"
_DOWNLOADS = "restrictedForReaders,restrictedForWriters"
_THEME = "backgroundImageLink,colorRgb,id"

FILE = parse(
    "capabilities(canAcceptOwnership,canAccessViaGenAi,canAddFolderFromAnotherDrive,canAddMyDriveParent,"
    "canChangeItemDownloadRestriction,canChangeSecurityUpdateEnabled,canDisableInheritedPermissions,"
    "canEnableInheritedPermissions,canModifyEditorContentRestriction,canModifyLabels,canModifyOwnerContentRestriction,"
    "canMoveChildrenOutOfDrive,canMoveChildrenOutOfTeamDrive,canMoveChildrenWithinDrive,canMoveChildrenWithinTeamDrive,"
    "canMoveItemIntoTeamDrive,canMoveItemOutOfDrive,canMoveItemOutOfTeamDrive,canMoveItemWithinTeamDrive,"
    "canMoveTeamDriveItem,canReadDrive,canReadLabels,canReadTeamDrive,canRemoveContentRestriction,"
    "canRemoveMyDriveParent,canStartApproval),"
    "clientEncryptionDetails/decryptionMetadata(aes256GcmChunkSize,encryptionResourceKeyHash,jwt,kaclsId,kaclsName,"
    "keyFormat,wrappedKey),"
    "contentHints/thumbnail(image,mimeType),"
    f"downloadRestrictions(effectiveDownloadRestrictionWithContext({_DOWNLOADS}),itemDownloadRestriction({_DOWNLOADS})),"
    "imageMediaMetadata(aperture,cameraMake,cameraModel,colorSpace,exposureBias,exposureMode,exposureTime,flashUsed,"
    "focalLength,isoSpeed,lens,location(altitude,latitude,longitude),maxApertureValue,meteringMode,sensor,"
    "subjectDistance,time,whiteBalance),"
    "labelInfo/labels(fields,id,kind,revisionId),"
    f"permissions(permissionDetails({_DETAILS}),teamDrivePermissionDetails({_DETAILS}))"
)
ABOUT = parse(
    f"canCreateTeamDrives,storageQuota(usageInDrive,usageInDriveTrash),driveThemes({_THEME}),teamDriveThemes({_THEME})"
)
CALENDAR = parse(
    "autoAcceptInvitations,labelProperties/eventLabels(backgroundColor,id,name),"
    "workingHours(availableTimes(dayOfWeek,periodEnd,periodStart),workingHoursEnabled)"
)
EVENT = parse("attendees/asyncOperation")
SETTING = parse("etag")
REVISION = parse("exportLinks,publishAuto,publishedLink,publishedOutsideDomain")


def with_family_fields(shape: Shape | None, family: Mask) -> Shape:
    """Return a shape with these further names.

    >>> with_family_fields({"id": None, "user": {"me": None}}, parse("user/photo,size"))
    {'id': None, 'user': {'me': None, 'photo': None}, 'size': None}
    """
    own = {} if shape in (None, ANY_KEY) else dict(shape or {})
    return own | {name: with_family_fields(own.get(name), below) if below else None for name, below in family.items()}
