/** A path of an image, by its parts. */
export type ImagePath = readonly string[]

const whiteout = '.wh.'
const opaqueWhiteout = '.wh..wh..opq'

/**
 * What the layers of an image make of its files when they are read from the highest to the lowest: an entry counts unless a higher layer has
 * replaced, deleted or hidden it (OCI image specification, layers).
 */
export class LayerView {
  readonly #entries = new Map<string, { isDirectory: boolean; layer: number }>()
  readonly #deleted = new Map<string, number>()
  readonly #opaque = new Map<string, number>()

  /**
   * Adds an entry of a layer. A marker of a deleted file is none.
   *
   * @param layer its position, of which a higher one is a higher layer
   * @returns `new` for an entry that counts; `merged` for a directory that a higher layer has too; `hidden` for anything else
   */
  add(path: ImagePath, layer: number, isDirectory: boolean): 'new' | 'merged' | 'hidden' {
    const name = path.at(-1) ?? ''
    if (name === opaqueWhiteout) {
      keepHighest(this.#opaque, join(path.slice(0, -1)), layer)
      return 'hidden'
    }
    if (name.startsWith(whiteout)) {
      keepHighest(this.#deleted, join([...path.slice(0, -1), name.slice(whiteout.length)]), layer)
      return 'hidden'
    }
    if (this.#isHidden(path, layer)) return 'hidden'
    const key = join(path)
    const known = this.#entries.get(key)
    if (known && known.layer > layer) return known.isDirectory && isDirectory ? 'merged' : 'hidden'
    this.#entries.set(key, { isDirectory, layer })
    return 'new'
  }

  /** Whether a layer itself has a file of this path that counts. */
  hasFile(path: ImagePath, layer: number): boolean {
    const known = this.#entries.get(join(path))
    return known?.layer === layer && !known.isDirectory
  }

  #isHidden(path: ImagePath, layer: number): boolean {
    for (let length = 0; length <= path.length; length += 1) {
      const key = join(path.slice(0, length))
      if ((this.#deleted.get(key) ?? -1) > layer) return true
      if (length === path.length) break
      if ((this.#opaque.get(key) ?? -1) > layer) return true
      const above = this.#entries.get(key)
      if (above && above.layer > layer && !above.isDirectory) return true
    }
    return false
  }
}

export const join = (path: ImagePath): string => path.join('/')

function keepHighest(map: Map<string, number>, key: string, layer: number): void {
  map.set(key, Math.max(layer, map.get(key) ?? -1))
}
