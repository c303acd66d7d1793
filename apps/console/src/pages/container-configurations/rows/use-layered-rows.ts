import { type LayeredRow, layerRows, newId, withoutRow, withRow } from '@crux/config-editor'
import { useFocusRow } from './use-focus-row.ts'

type Options<Row> = {
  /** The rows of this layer, and of the layers below. */
  own: readonly Row[] | null | undefined
  inherited: readonly Row[] | null | undefined
  /** What makes two rows the same one: the name of their key, or a comparison. */
  same: Parameters<typeof layerRows<Row & { id?: string }>>[2]
  onChange: (rows: readonly Row[]) => void
}

/** The layered rows of a list, and how this layer's are changed. */
export function useLayeredRows<Row extends { id?: string }, Body extends HTMLElement>(options: Options<Row>) {
  const own = options.own ?? []
  const { rows: body, focusRow } = useFocusRow<Body>()
  return {
    own,
    rows: layerRows<Row>(own, options.inherited ?? [], options.same),
    body,
    /** Adds a row and puts the focus into it. */
    add(row: (id: string) => Row) {
      const id = newId()
      options.onChange([...own, row(id)])
      focusRow(id)
    },
    change: (layered: LayeredRow<Row>, part: Partial<Row>) => options.onChange(withRow(own, layered, part, newId)),
    remove: (layered: LayeredRow<Row>) => options.onChange(withoutRow(own, layered.index)),
  }
}
