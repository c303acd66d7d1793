import type { z } from 'zod'

/** The JSON text as a value of the schema; undefined for no text, for another value, and for a text that is not JSON. */
export function parseJson<S extends z.ZodType>(schema: S, text: string | undefined): z.output<S> | undefined {
  try {
    return text === undefined ? undefined : schema.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}
