import { describe, expect, test } from 'vitest'
import { splitCommand } from './split-command.ts'

describe('the words of a command', () => {
  const cases: [string, string[]][] = [
    ['', []],
    ['   ', []],
    ['serve --port 80', ['serve', '--port', '80']],
    ['a\tb\n c', ['a', 'b', 'c']],
    [`sh -c 'echo "$HOME" \\n'`, ['sh', '-c', 'echo "$HOME" \\n']],
    ['sh -c "echo \\"a\\" \\$b \\\\ \\n"', ['sh', '-c', 'echo "a" $b \\ \\n']],
    [`a'b'"c"d`, ['abcd']],
    [`'' ""`, ['', '']],
    ['a\\ b \\" \\\\', ['a b', '"', '\\']],
    ['a\\\nb "c\\\nd"', ['ab', 'cd']],
    [`it"'"s`, ["it's"]],
  ]

  test.each(cases)('of %j are those of a POSIX shell', (text, words) => {
    expect(splitCommand(text)).toMatchObject({ ok: true, words, operator: undefined })
  })

  test('keep operators, and say which one only a shell understands', () => {
    expect(splitCommand('echo a; echo b')).toMatchObject({
      ok: true,
      words: ['echo', 'a;', 'echo', 'b'],
      operator: ';',
    })
    expect(splitCommand('cat < file')).toMatchObject({ operator: '<' })
    expect(splitCommand('echo ";" \'&\' \\|')).toMatchObject({ words: ['echo', ';', '&', '|'], operator: undefined })
  })

  test.each(['echo "a', "echo 'a", 'echo "a\\"', "'"])('are refused if a quotation mark is not closed: %s', (text) => {
    expect(splitCommand(text)).toMatchObject({ ok: false })
  })

  test('are refused if the text ends with a backslash', () => {
    expect(splitCommand('echo \\')).toMatchObject({ ok: false })
  })
})
