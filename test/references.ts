import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root, type SourceFile } from './repository.ts'

/** A document in a text of the code, and names of documents that are no path, such as the number of a decision. */
const inText = /(?<![\w/])docs\/[\w./-]+(?:\.md|\/\d{4})\b(?:#[\w-]+)?|\b(?:[Dd]ecisions?|ADR) \d+/g
const inComment = /(?<![\w/.])[\w./-]+\.md\b(?:#[\w-]+)?/g
const comments = /(?<![:'"`\w])\/\/.*|\/\*[\s\S]*?\*\/|^\s*--.*/gm

/** The documents and anchors that code names and that do not exist, as `path:line reference`. */
export function missingReferences(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, text }) => {
    const found = new Map([...text.matchAll(inText)].map((match) => [match.index, match[0]]))
    for (const comment of text.matchAll(comments))
      for (const match of comment[0].matchAll(inComment)) found.set(comment.index + match.index, match[0])
    return [...found]
      .sort(([a], [b]) => a - b)
      .filter(([, reference]) => !documentExists('', reference) && !documentExists(path, reference))
      .map(([index, reference]) => `${path}:${text.slice(0, index).split('\n').length} ${reference}`)
  })
}

/** Whether a link in a file leads to an existing file, and to a heading of it if it has an anchor. */
export function documentExists(from: string, link: string): boolean {
  const [path = '', anchor] = link.split('#')
  const file = path === '' ? join(root, from) : join(root, dirname(from), decodeURIComponent(path))
  if (!existsSync(file)) return false
  return anchor === undefined || !file.endsWith('.md') || listHeadings(readFileSync(file, 'utf8')).includes(anchor)
}

/** Builds anchors like the common Markdown renderers. */
function listHeadings(text: string): string[] {
  return [...text.matchAll(/^#{1,6}\s+(.+)$/gm)].map((match) =>
    (match[1] ?? '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s-]/gu, '')
      .trim()
      .replace(/\s/g, '-'),
  )
}
