import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The files that the repository checks read: those that git tracks or would add. */

export const root = fileURLToPath(new URL('..', import.meta.url))

export interface SourceFile {
  /** Relative to the root, with forward slashes. */
  path: string
  text: string
}

export function projectFiles(pattern: RegExp): SourceFile[] {
  const list = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  })
  return [...new Set(list.split('\0'))]
    .filter((path) => pattern.test(path) && existsSync(join(root, path)))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}

/** Import specifiers of a module; `typeOnly` ones do not exist at run time. */
export function listImports(text: string): { specifier: string; typeOnly: boolean }[] {
  const statements = text.matchAll(/^(?:import|export)\s+(type\s)?(?:[^'"`;()]*?\sfrom\s+)?['"]([^'"]+)['"]/gm)
  const dynamic = text.matchAll(/\bimport\(\s*['"]([^'"]+)['"]\s*\)/g)
  return [
    ...[...statements].map((match) => ({ specifier: match[2] ?? '', typeOnly: match[1] !== undefined })),
    ...[...dynamic].map((match) => ({ specifier: match[1] ?? '', typeOnly: false })),
  ]
}
