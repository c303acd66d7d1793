import type { SourceFile } from '@crux/compose'
import { z } from 'zod'

/** A file of the composer. The id stays while its name and text change. */
export type DraftFile = SourceFile & { id: string }
/** Compose files or `.env` files. */
export type FileKind = 'files' | 'envFiles'

/** What the user typed: at least one compose file, and the default `.env` file first among the others. */
export type ComposerDraft = {
  files: readonly DraftFile[]
  envFiles: readonly DraftFile[]
  /** Active profiles, separated by commas or spaces, as they were typed. */
  profiles: string
}

export const defaultComposeName = 'compose.yaml'
export const defaultEnvName = '.env'
/** The reader accepts 1 MiB in total, so more and longer files would only use memory. */
export const filesMax = 20
export const fileBytesMax = 1024 ** 2

export const emptyDraft = (): ComposerDraft => ({
  files: [newFile(defaultComposeName)],
  envFiles: [newFile(defaultEnvName)],
  profiles: '',
})

export const isEmptyDraft = ({ files, envFiles }: ComposerDraft): boolean =>
  [...files, ...envFiles].every(({ text }) => text.trim() === '')

export const newFile = (name: string, text = ''): DraftFile => ({ id: crypto.randomUUID(), name, text })

/** The base compose file and the default `.env` file cannot be removed, and the latter keeps its name. */
export const canRemove = (draft: ComposerDraft, kind: FileKind, id: string): boolean =>
  kind === 'files' ? draft.files.length > 1 : draft.envFiles[0]?.id !== id
export const canRename = (draft: ComposerDraft, id: string): boolean => draft.envFiles[0]?.id !== id

export const setText = (draft: ComposerDraft, id: string, text: string): ComposerDraft =>
  updateFile(draft, id, (file) => ({ ...file, text }))

export const renameFile = (draft: ComposerDraft, id: string, name: string): ComposerDraft =>
  updateFile(draft, id, (file) => ({ ...file, name }))

export const removeFile = (draft: ComposerDraft, kind: FileKind, id: string): ComposerDraft =>
  canRemove(draft, kind, id) ? { ...draft, [kind]: draft[kind].filter((file) => file.id !== id) } : draft

/** Adds an empty file with a name that no other file has: `compose.override.yaml`, `.env.2`. */
export function addFile(draft: ComposerDraft, kind: FileKind): { draft: ComposerDraft; id: string } {
  const file = newFile(proposeName(draft, kind))
  return { draft: { ...draft, [kind]: [...draft[kind], file] }, id: file.id }
}

/** Why a file cannot have this name; null for a good name. */
export function findNameProblem(
  draft: ComposerDraft,
  id: string,
  name: string,
): 'required' | 'tooLong' | 'taken' | null {
  if (name.trim() === '') return 'required'
  if (name.length > 255) return 'tooLong'
  return [...draft.files, ...draft.envFiles].some((file) => file.id !== id && file.name === name) ? 'taken' : null
}

/**
 * Adds files that were chosen or dropped. A file with a known name replaces its text. The first compose file takes the place of the base file while
 * that is empty.
 */
export function addChosenFiles(draft: ComposerDraft, chosen: readonly SourceFile[]): ComposerDraft {
  return chosen.reduce(addChosenFile, draft)
}

function addChosenFile(draft: ComposerDraft, { name, text }: SourceFile): ComposerDraft {
  const known = [...draft.files, ...draft.envFiles].find((file) => file.name === name)
  if (known) return setText(draft, known.id, text)
  if (isEnvName(name)) return { ...draft, envFiles: [...draft.envFiles, newFile(name, text)] }
  const [base, ...others] = draft.files
  if (base && others.length === 0 && base.text.trim() === '') return { ...draft, files: [{ ...base, name, text }] }
  return { ...draft, files: [...draft.files, newFile(name, text)] }
}

/** `.env`, `.env.production`, `db.env`. */
export const isEnvName = (name: string): boolean => /(^|\/)\.env(\.|$)|\.env$/i.test(name)

/** What the reader gets. It refuses more than 1 MiB, so the rest of a longer text is not copied into the worker. */
export const toSourceFiles = (files: readonly DraftFile[]): SourceFile[] =>
  files.map(({ name, text }) => ({ name, text: text.slice(0, fileBytesMax + 1) }))

export const parseProfiles = (text: string): string[] => [...new Set(text.split(/[\s,]+/).filter(Boolean))]

function proposeName(draft: ComposerDraft, kind: FileKind): string {
  const taken = new Set([...draft.files, ...draft.envFiles].map(({ name }) => name))
  if (kind === 'files' && !taken.has('compose.override.yaml')) return 'compose.override.yaml'
  for (let number = draft[kind].length + 1; ; number++) {
    const name = kind === 'files' ? `compose.${number}.yaml` : `.env.${number}`
    if (!taken.has(name)) return name
  }
}

function updateFile(draft: ComposerDraft, id: string, update: (file: DraftFile) => DraftFile): ComposerDraft {
  const updated = (files: readonly DraftFile[]) => files.map((file) => (file.id === id ? update(file) : file))
  return { ...draft, files: updated(draft.files), envFiles: updated(draft.envFiles) }
}

const StoredFile = z.object({ id: z.string(), name: z.string(), text: z.string() })
const StoredDraft = z.object({
  files: z.array(StoredFile).min(1),
  envFiles: z.array(StoredFile).min(1),
  profiles: z.string(),
})

/** A draft as it was stored; undefined if it is missing or cannot be read. */
export function parseDraft(stored: string | null): ComposerDraft | undefined {
  try {
    return stored === null ? undefined : StoredDraft.parse(JSON.parse(stored))
  } catch {
    return undefined
  }
}
