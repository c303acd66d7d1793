/** Lines of an .env file (`KEY=value`, `export`, quotes, comments) as rows; empty where the text is no such list. */
export function parsePairs(text: string): { key: string; value: string }[] {
  const lines = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
  const pairs = lines.flatMap((line) => {
    const match = /^(?:export\s+)?([^\s=]+)=(.*)$/.exec(line)
    return match?.[1] ? [{ key: match[1], value: unquoted(match[2] ?? '') }] : []
  })
  return pairs.length === lines.length ? pairs : []
}

const unquoted = (value: string) => /^(["'])(.*)\1$/.exec(value.trim())?.[2] ?? value.trim()
