/**
 * Whether an image was built or loaded on the node. One that came from a registry keeps a digest of its repository, and then that
 * registry decides who may run it.
 *
 * @param repoDigests "name@sha256:..." as the store knows them
 */
export function isLocalImage(repoDigests: readonly string[]): boolean {
  return repoDigests.length === 0
}
