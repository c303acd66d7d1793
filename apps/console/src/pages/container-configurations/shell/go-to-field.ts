import type { FieldTarget } from '@crux/config-editor'
import type { SectionId } from '../form/sections.ts'

/** The height that the top bar covers. */
const headHeight = 56
/** How long to wait for sections and rows that are rendered late. */
const timeoutMs = 3_000

/** Scrolls to a section and puts the focus on its first control, or on that of a setting in it. Returns a function that cancels it. */
export function goToField(id: SectionId, target?: FieldTarget): () => void {
  const start = performance.now()
  let frame = 0
  const look = () => {
    const section = document.getElementById(`section-${id}`)
    const waits = performance.now() - start < timeoutMs
    const control = section && target && getControl(section, target)
    if (!section || (target && !control && waits)) {
      if (waits) frame = requestAnimationFrame(look)
    } else go(section, control ?? firstControl(section))
  }
  look()
  return () => cancelAnimationFrame(frame)
}

function go(section: HTMLElement, control: HTMLElement | null) {
  const first = firstControl(section)
  const found = control && control !== first ? control : section
  const { top } = found.getBoundingClientRect()
  // A target that is already visible is not scrolled.
  if (top < headHeight || top > innerHeight * 0.6)
    found.scrollIntoView({
      block: found === section ? 'start' : 'center',
      behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth',
    })
  control?.focus({ preventScroll: true })
}

// The key of an inherited row is read-only and cannot be focused.
const controls =
  'input:not(:disabled), textarea:not(:disabled), select:not(:disabled), [role="radio"][tabindex="0"], [role="switch"]'

/** Values before the buttons of the head. */
const firstControl = (section: HTMLElement): HTMLElement | null =>
  section.querySelector<HTMLElement>(controls) ?? section.querySelector('button')

/** The control that carries the name, in the row that carries the id; a control with an error is used for a field without a control. */
function getControl(section: HTMLElement, { property, rowId, part }: FieldTarget): HTMLElement | null {
  const marked = [...section.querySelectorAll<HTMLElement>('[data-input]')]
  const named = (fits: (input: string) => boolean) => marked.find((element) => fits(element.dataset.input ?? ''))
  const inRow = (input: string) => rowId !== undefined && input.includes(`.${rowId}`)
  const row = rowId === undefined ? null : section.querySelector<HTMLElement>(`[data-row="${CSS.escape(rowId)}"]`)
  const element =
    named((input) => input === property) ??
    named((input) => inRow(input) && input.endsWith(`.${part || 'value'}`)) ??
    section.querySelector<HTMLElement>(`[data-part="${CSS.escape(property)}"]`) ??
    // The value of a variable carries the name of its row alone.
    (part === 'key' ? undefined : named((input) => rowId !== undefined && input.endsWith(`.${rowId}`))) ??
    // The inputs of an inherited row carry its key, not its id.
    row?.querySelector<HTMLElement>(`[data-input$="${CSS.escape(`.${part}`)}"]`) ??
    row ??
    (rowId === undefined ? named((input) => input.startsWith(`${property}.`)) : named(inRow))
  return (
    element?.querySelector<HTMLElement>(controls) ??
    element?.querySelector('button') ??
    section.querySelector('[aria-invalid]')
  )
}
