/** "sha256:" and the first digits, which tell digests apart. */
export const shortDigest = (digest: string): string => digest.slice(0, 19)
