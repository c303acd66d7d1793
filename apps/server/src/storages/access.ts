/** The address and keys of a storage; without keys it is public. */
export type StorageAccess = { url: string; keys: { accessKey: string; secretKey: string } | undefined }
