import { isRecord, type JsonRecord } from '@crux/rules'

/** What a typed value is once empty rows are left out; `positions` = the index of each kept row in the form. */
export function cleaned(field: string, value: unknown): { value: unknown; positions?: number[] } {
  if (field === 'logConfig' && isRecord(value) && Array.isArray(value.options))
    return { value: { ...value, options: value.options.filter((row: JsonRecord) => !isEmpty(row)) } }
  if (!Array.isArray(value)) return { value }
  const positions: number[] = []
  const rows = value.filter((row: JsonRecord, place) => {
    if (isBegun(field, row)) return false
    positions.push(place)
    return true
  })
  return { value: rows, positions }
}

/** An empty row: its preselected choices do not count as typed. */
function isBegun(field: string, row: JsonRecord): boolean {
  if (field === 'secrets' || field === 'capabilities') return row.key === ''
  if (field === 'ulimits') return Number.isNaN(row.soft) && Number.isNaN(row.hard)
  return isEmpty(row)
}

/** A row in which nothing was typed yet. A `null` value is a statement: this key is removed. */
function isEmpty(row: JsonRecord): boolean {
  return Object.entries(row).every(([name, value]) => {
    if (name === 'id' || name === 'type' || name === 'protocol' || name === 'useParentConfig') return true
    if (Array.isArray(value)) return value.length === 0
    if (name === 'key' && row.value === null) return value === ''
    if (isRecord(value)) return isEmpty(value)
    return value === '' || value === undefined || value === null || Number.isNaN(value)
  })
}
