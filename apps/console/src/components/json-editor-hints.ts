import type { CompletionContext, CompletionResult } from '@codemirror/autocomplete'
import { syntaxTree } from '@codemirror/language'
import type { EditorState } from '@codemirror/state'
import { hoverTooltip } from '@codemirror/view'
import { descriptionAt, type JsonPath, type JsonSchema, propertyHints, valueHints } from './json-schema-hints.ts'

type SyntaxNode = ReturnType<ReturnType<typeof syntaxTree>['resolveInner']>

const valueNodes = new Set(['True', 'False', 'Null', 'Number', 'String', 'Object', 'Array', '⚠'])

/** Names and values that fit at the cursor. */
export function completeJson(context: CompletionContext, schema: JsonSchema): CompletionResult | null {
  const { state, pos } = context
  const before = state.sliceDoc(Math.max(0, pos - 200), pos)
  const word = /"?[\w./-]*$/.exec(before)?.[0] ?? ''
  if (word === '' && !context.explicit && !/[:[,{]\s*$/.test(before)) return null
  const from = pos - word.length
  const node = syntaxTree(state).resolveInner(from, 1)
  const location = toLocation(state, node, from)
  if (!location) return null
  const closing = state.sliceDoc(pos, pos + 1) === '"' && word.startsWith('"') ? 1 : 0
  const hints = location.name
    ? propertyHints(schema, location.path, namesIn(state, location.object, from))
    : valueHints(schema, location.path)
  if (hints.length === 0) return null
  return {
    from,
    to: pos + closing,
    options: hints.map((hint) => ({
      label: hint.insert,
      apply: location.name && !hasColon(state, pos + closing) ? `${hint.insert}: ` : hint.insert,
      detail: hint.detail,
      info: hint.description,
      type: location.name ? 'property' : 'enum',
    })),
    validFor: /^"?[\w./-]*$/,
  }
}

/** The description of the property under the pointer. */
export const jsonHover = (schema: () => JsonSchema | undefined) =>
  hoverTooltip((view, pos) => {
    const root = schema()
    const node = syntaxTree(view.state).resolveInner(pos, 1)
    if (!root || node.name !== 'PropertyName' || !node.parent) return null
    const text = descriptionAt(root, toPath(view.state, node.parent))
    if (!text) return null
    return {
      pos: node.from,
      end: node.to,
      create() {
        const dom = document.createElement('div')
        dom.className = 'max-w-96 px-2 py-1'
        dom.textContent = text
        return { dom }
      },
    }
  })

/** The position of a property such as `ports[1].internal` in the text; undefined if it is missing. */
export function toRange(state: EditorState, property: string): { from: number; to: number } | undefined {
  const steps = property.match(/[^.[\]]+/g) ?? []
  let node = syntaxTree(state).topNode.firstChild
  let found: SyntaxNode | null = null
  for (const step of steps) {
    const next: SyntaxNode | null | undefined = node && getChild(state, node, step)
    if (!next) break
    found = next
    node = next.name === 'Property' ? next.lastChild : next
  }
  const target = found?.name === 'Property' ? found.getChild('PropertyName') : found
  return target ? { from: target.from, to: target.to } : undefined
}

function getChild(state: EditorState, node: SyntaxNode, step: string): SyntaxNode | null {
  if (node.name === 'Object')
    return node.getChildren('Property').find((property) => getName(state, property) === step) ?? null
  return node.name === 'Array' ? (listItems(node)[Number(step)] ?? null) : null
}

type Location = { path: JsonPath; name: boolean; object: SyntaxNode }

/** Whether a name or a value is expected at this position, and of which property. */
function toLocation(state: EditorState, node: SyntaxNode, from: number): Location | null {
  const holder = getHolder(node, from)
  if (!holder) return null
  if (holder.name === 'Array') {
    const at = listItems(holder).filter((item) => item.to <= from).length
    return { path: [...toPath(state, holder), at], name: false, object: holder }
  }
  const path = toPath(state, holder)
  const property = holder.getChildren('Property').findLast((one) => one.from <= from)
  // After a colon without a value.
  const colon = property && state.sliceDoc(property.from, from).match(/^"(?:[^"\\]|\\.)*"\s*:/)
  const ended = property?.lastChild && valueNodes.has(property.lastChild.name) && property.lastChild.to < from
  if (property && colon && !ended) return { path: [...path, getName(state, property)], name: false, object: holder }
  return { path, name: true, object: holder }
}

/** The object or list around a location. */
function getHolder(node: SyntaxNode, from: number): SyntaxNode | null {
  for (let at: SyntaxNode | null = node; at; at = at.parent)
    if ((at.name === 'Object' || at.name === 'Array') && at.from < from) return at
  return null
}

function toPath(state: EditorState, node: SyntaxNode): JsonPath {
  const { parent } = node
  if (!parent) return []
  if (node.name === 'Property') return [...toPath(state, parent), getName(state, node)]
  if (parent.name === 'Array')
    return [...toPath(state, parent), listItems(parent).findIndex((item) => item.from === node.from)]
  return toPath(state, parent)
}

const listItems = (list: SyntaxNode): SyntaxNode[] => {
  const items: SyntaxNode[] = []
  for (let at = list.firstChild; at; at = at.nextSibling) if (valueNodes.has(at.name)) items.push(at)
  return items
}

function getName(state: EditorState, property: SyntaxNode): string {
  const name = property.getChild('PropertyName')
  return name ? state.sliceDoc(name.from + 1, name.to - 1) : ''
}

/** Names that an object has, but for the one that is being typed. */
const namesIn = (state: EditorState, object: SyntaxNode, from: number): Set<string> =>
  new Set(
    object
      .getChildren('Property')
      .filter((property) => property.from !== from)
      .map((property) => getName(state, property)),
  )

const hasColon = (state: EditorState, pos: number) => /^\s*:/.test(state.sliceDoc(pos, pos + 20))
