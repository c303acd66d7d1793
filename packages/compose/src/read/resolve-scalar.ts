/**
 * The value of an unquoted scalar as the YAML library of Docker Compose reads it: YAML 1.2, where `yes`, `no`, `on` and `off` are text, with the
 * octal numbers (`0440`) and underscores (`1_000`) of YAML 1.1. Dates, infinity and "not a number" stay text, because JSON has none.
 */
export function resolveScalar(text: string): string | number | boolean | null {
  const constant = constants.get(text)
  if (constant !== undefined) return constant
  // No number begins otherwise, and none is longer than this.
  if (!/^[-+.\d]/.test(text) || text.length > 100) return text
  const plain = text.replaceAll('_', '')
  const integer = parseInteger(plain)
  if (integer !== undefined) return integer
  // A number that JavaScript cannot hold exactly stays as it was written.
  if (/^[-+]?\d{16,}$/.test(plain)) return text
  return /^[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?$/.test(plain) && Number.isFinite(Number(plain))
    ? Number(plain)
    : text
}

const constants = new Map<string, boolean | null>([
  ['', null],
  ['~', null],
  ['null', null],
  ['Null', null],
  ['NULL', null],
  ['true', true],
  ['True', true],
  ['TRUE', true],
  ['false', false],
  ['False', false],
  ['FALSE', false],
])

function parseInteger(text: string): number | undefined {
  const found = /^([-+]?)(?:0b([01]+)|0x([\da-fA-F]+)|0o?([0-7]+)|(0|[1-9]\d*))$/.exec(text)
  if (!found) return undefined
  const [, sign, binary, hex, octal, decimal] = found
  const digits: [string, number] = binary ? [binary, 2] : hex ? [hex, 16] : octal ? [octal, 8] : [decimal ?? '', 10]
  const value = Number.parseInt(...digits)
  if (!Number.isSafeInteger(value)) return undefined
  return sign === '-' ? -value : value
}
