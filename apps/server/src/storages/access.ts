/** How a storage is reached; without keys it is public. */
export type StorageAccess = { url: string; keys: { accessKey: string; secretKey: string } | undefined }
