type Input = { id?: string; key: string; value: string }

/** What an event of a registry says of its image. */
export type EventImage = {
  name: string
  tag: string
  /** The value of a label of the image; empty where it has none. */
  label: (key: string) => string
}

/** The inputs of a run that an event watcher starts: its own override those of the pipeline with the same id or key, and are added otherwise. */
export function mergePipelineInputs<I extends Input>(ofPipeline: readonly I[], ofWatcher: readonly I[]): I[] {
  let merged = [...ofPipeline]
  for (const input of ofWatcher) {
    const isOverridden = ({ id, key }: I) => key === input.key || (id !== undefined && id === input.id)
    const index = merged.findIndex(isOverridden)
    if (index < 0) merged.push(input)
    // One row may have the id and another the key; keys stay unique.
    else
      merged = merged
        .map((row, at) => (at === index ? input : row))
        .filter((row) => row === input || !isOverridden(row))
  }
  return merged
}

/** Replaces every placeholder of a value: `{{ imageName }}`, `{{ imageTag }}` and `{{ label:KEY }}`. Other texts in braces stay. */
export const fillPlaceholders = (value: string, image: EventImage): string =>
  value.replaceAll(/\{\{([^{}]*)\}\}/g, (whole, inner: string) => {
    const name = inner.trim()
    if (name === 'imageName') return image.name
    if (name === 'imageTag') return image.tag
    return name.startsWith('label:') ? image.label(name.slice('label:'.length).trim()) : whole
  })
