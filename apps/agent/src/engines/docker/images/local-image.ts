/**
 * Whether an image was built or loaded on the node. An image from a registry keeps a digest of its repository, and that registry then
 * decides which users may run it.
 *
 * @param repoDigests "name@sha256:..." as stored
 */
export function isLocalImage(repoDigests: readonly string[]): boolean {
  return repoDigests.length === 0
}
