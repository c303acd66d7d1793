import { CompletionContext } from '@codemirror/autocomplete'
import { json } from '@codemirror/lang-json'
import { ensureSyntaxTree } from '@codemirror/language'
import { EditorState } from '@codemirror/state'
import { describe, expect, it } from 'vitest'
import { completeJson, toRange } from './json-editor-hints.ts'
import type { JsonSchema } from './json-schema-hints.ts'

const schema: JsonSchema = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    mode: { enum: ['bridge', 'host'] },
    ports: {
      type: 'array',
      items: { type: 'object', properties: { internal: {}, protocol: { enum: ['tcp', 'udp'] } } },
    },
    kinds: { type: 'array', items: { enum: ['a', 'b'] } },
  },
}
/** `|` is the cursor. */
function offered(text: string): string[] {
  const pos = text.indexOf('|')
  const created = EditorState.create({ doc: text.replace('|', ''), extensions: [json()] })
  // The editor parses in steps of limited time, and the first step may end early on a busy machine.
  ensureSyntaxTree(created, created.doc.length, 30_000)
  const { state } = created.update({})
  return completeJson(new CompletionContext(state, pos, true), schema)?.options.map((option) => option.label) ?? []
}

describe('hints in a JSON text', () => {
  it('offers property names that the object does not have yet', () => {
    expect(offered('{ "|" }')).toEqual(['"name"', '"mode"', '"ports"', '"kinds"'])
    expect(offered('{ "name": "web", "|" }')).toEqual(['"mode"', '"ports"', '"kinds"'])
    expect(offered('{ "name": "web", | }')).toEqual(['"mode"', '"ports"', '"kinds"'])
    expect(offered('{ "ports": [{ "internal": 1, "| }] }')).toEqual(['"protocol"'])
  })

  it('offers values after a colon and in a list', () => {
    expect(offered('{ "mode": | }')).toEqual(['"bridge"', '"host"'])
    expect(offered('{ "mode": "|" }')).toEqual(['"bridge"', '"host"'])
    expect(offered('{ "ports": [{ "protocol": "|" }] }')).toEqual(['"tcp"', '"udp"'])
    expect(offered('{ "kinds": ["a", "|"] }')).toEqual(['"a"', '"b"'])
  })

  it('finds the position of a property', () => {
    const text = '{ "ports": [{ "internal": 1 }, { "internal": 0 }] }'
    const state = EditorState.create({ doc: text, extensions: [json()] })
    const at = (property: string) => {
      const range = toRange(state, property)
      return range && text.slice(range.from, range.to)
    }
    expect(at('ports[1].internal')).toBe('"internal"')
    expect(toRange(state, 'ports[1].internal')?.from).toBeGreaterThan(30)
    expect(at('ports[0].unknown')).toBe('{ "internal": 1 }')
    expect(at('nothing')).toBeUndefined()
  })
})
