/** What a person calls an image of a store: its tags, else its repository and the beginning of a digest, else of its id. */
export function imageName({ id, references }: { id: string; references: readonly string[] }): string {
  const tags = references.filter((reference) => !reference.includes('@'))
  if (tags.length > 0) return tags.join(', ')
  const [first] = references
  return first?.replace(/(@sha256:[0-9a-f]{12})[0-9a-f]+$/, '$1') ?? id.replace(/^sha256:/, '').slice(0, 12)
}
