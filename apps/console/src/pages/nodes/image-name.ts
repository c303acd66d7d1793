type Named = { id: string; references: readonly string[] }

export const tagsOf = ({ references }: Pick<Named, 'references'>): string[] =>
  references.filter((reference) => !reference.includes('@'))

/** What a person calls an image of a store: its first tag, else its repository and the beginning of a digest, else of its id. */
export function imageName({ id, references }: Named): string {
  const [tag] = tagsOf({ references })
  const [first] = references
  return (
    tag ??
    first?.replace(/(@sha256:[0-9a-f]{12})[0-9a-f]+$/, '$1') ??
    (id.replace(/^sha256:/, '').slice(0, 12) || '<none>')
  )
}
