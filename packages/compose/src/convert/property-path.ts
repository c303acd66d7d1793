import type { ComposePath } from '../model.ts'

/** The parts of a property as validation names it: `volumes[0].name` becomes `['volumes', 0, 'name']`. */
export const parsePropertyPath = (property: string): ComposePath =>
  [...property.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(([, index, name]) =>
    index === undefined ? (name ?? '') : Number(index),
  )

/** The property of the parts: `volumes[0].name`. */
export const formatPropertyPath = (parts: ComposePath): string =>
  parts.reduce<string>((path, part) => {
    if (typeof part === 'number') return `${path}[${part}]`
    return path === '' ? part : `${path}.${part}`
  }, '')
