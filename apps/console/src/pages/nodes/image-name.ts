type Named = { id: string; references: readonly string[] }

export const listTags = ({ references }: Pick<Named, 'references'>): string[] =>
  references.filter((reference) => !reference.includes('@'))

/** The display name of an image: its first tag, else its repository and the start of a digest, else the start of its id. */
export function imageName({ id, references }: Named): string {
  const [tag] = listTags({ references })
  const [first] = references
  return (
    tag ??
    first?.replace(/(@sha256:[0-9a-f]{12})[0-9a-f]+$/, '$1') ??
    (id.replace(/^sha256:/, '').slice(0, 12) || '<none>')
  )
}
