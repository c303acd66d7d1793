import { z } from 'zod'

/** Names that are written in one line, with commas or spaces between them. */
export const NameList = z.string().transform((text) => text.split(/[\s,]+/).filter((name) => name !== ''))

export const nameListText = (names: readonly string[]): string => names.join(', ')
