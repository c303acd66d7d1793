import { isLoopbackUrl } from '@crux/service-kit'
import { z } from 'zod'

/** An address with https; http only for this machine. */
export const secureUrl = z
  .url({ protocol: /^https?$/ })
  .refine((value) => value.startsWith('https:') || isLoopbackUrl(value), 'must be https')

/** A setting whose text is the JSON of `schema`. */
export function jsonSetting<T extends z.ZodType>(schema: T, empty: '[]' | '{}') {
  return z
    .string()
    .default(empty)
    .transform((text, context): unknown => {
      try {
        return JSON.parse(text)
      } catch {
        context.addIssue({ code: 'custom', message: 'is not valid JSON' })
        return z.NEVER
      }
    })
    .pipe(schema)
}

const unitSeconds: Record<string, number> = { s: 1, m: 60, h: 3600 }

/** The seconds of a duration such as "10m". */
export function toSeconds(duration: string): number {
  return Number(duration.slice(0, -1)) * (unitSeconds[duration.slice(-1)] ?? 0)
}
