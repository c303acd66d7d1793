import { cloneElement, type ReactElement, useEffect, useLayoutEffect, useRef, useState } from 'react'

type Side = 'top' | 'right' | 'bottom' | 'left'
type Props = { content: string | null | undefined; children: ReactElement<object>; side?: Side }

/**
 * A tooltip on hover and focus. It is only an attribute of the child (a native element, or one of our own that passes its attributes on): one
 * host for the whole page shows it, so that a table of a thousand buttons costs nothing.
 */
export const Tooltip = ({ content, children, side }: Props): ReactElement =>
  content ? cloneElement(children, { 'data-tip': content, 'data-tip-side': side } as object) : children

const delayMs = 350
/** There is no delay when the pointer moves to another tooltip or onto the tooltip itself. */
const graceMs = 200
const gap = 6
const margin = 8

type Shown = { target: HTMLElement; text: string; side: Side }

/** Mounted once in the root. Escape hides the tooltip, and it stays while the pointer is on it (WCAG 1.4.13). */
export function TooltipHost() {
  const [shown, setShown] = useState<Shown | null>(null)
  const box = useRef<HTMLDivElement>(null)

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let current: HTMLElement | null = null
    let hiddenAt = 0
    let pointer = { x: 0, y: 0 }
    /** The element that the pointer was moved to. Its tooltip is shown once: a click or Escape hides it until the pointer comes back. */
    let under: HTMLElement | null = null
    const later = (ms: number, run: () => void) => {
      clearTimeout(timer)
      timer = setTimeout(run, ms)
    }
    const show = (target: HTMLElement) => {
      if (!target.isConnected) return hide()
      current = target
      removals.observe(document.body, { childList: true, subtree: true })
      const side = (target.dataset.tipSide ?? 'top') as Side
      setShown({ target, text: target.dataset.tip ?? '', side })
    }
    const hide = () => {
      clearTimeout(timer)
      removals.disconnect()
      if (current) hiddenAt = Date.now()
      current = null
      setShown(null)
    }
    const over = (event: PointerEvent) => {
      if (event.pointerType === 'touch' || !(event.target instanceof Element)) return
      // A page that changes under a resting pointer fires events too, but nobody has pointed at anything.
      const rests = event.clientX === pointer.x && event.clientY === pointer.y
      pointer = { x: event.clientX, y: event.clientY }
      const inBox = box.current?.contains(event.target)
      const target = inBox ? current : event.target.closest<HTMLElement>('[data-tip]')
      if (!inBox && target === under) return
      under = rests ? null : target
      if (!under) return current ? later(graceMs, hide) : clearTimeout(timer)
      if (under === current) return clearTimeout(timer)
      later(current || Date.now() - hiddenAt < graceMs ? 0 : delayMs, () => target && show(target))
    }
    const focused = (event: FocusEvent) => {
      const target = event.target instanceof Element && event.target.closest<HTMLElement>('[data-tip]')
      if (target && event.target === target && target.matches(':focus-visible')) show(target)
    }
    const key = (event: KeyboardEvent) => event.key === 'Escape' && hide()
    // An element that is removed under the pointer fires no event, so its tooltip would stay in the corner of the window.
    const removals = new MutationObserver(() => current?.isConnected === false && hide())
    const left = (event: PointerEvent) => {
      if (event.relatedTarget !== null) return
      under = null
      hide()
    }
    const listeners = {
      pointerover: over,
      pointermove: over,
      pointerout: left,
      pointerdown: hide,
      focusin: focused,
      focusout: hide,
      keydown: key,
      scroll: hide,
    }
    for (const [name, listen] of Object.entries(listeners))
      document.addEventListener(name, listen as EventListener, true)
    return () => {
      clearTimeout(timer)
      removals.disconnect()
      for (const [name, listen] of Object.entries(listeners))
        document.removeEventListener(name, listen as EventListener, true)
    }
  }, [])

  useLayoutEffect(() => {
    const element = box.current
    if (!shown || !element) return
    const { target, text, side } = shown
    const [left, top] = toPosition(target.getBoundingClientRect(), element.getBoundingClientRect(), side)
    element.style.translate = `${left}px ${top}px`
    if (target.getAttribute('aria-label') === text) return
    const before = target.getAttribute('aria-describedby')
    target.setAttribute('aria-describedby', before ? `${before} ${tipId}` : tipId)
    return () => {
      if (before) target.setAttribute('aria-describedby', before)
      else target.removeAttribute('aria-describedby')
    }
  }, [shown])

  if (!shown) return null
  return (
    <div
      ref={box}
      id={tipId}
      role="tooltip"
      className="fixed top-0 left-0 z-60 w-max max-w-72 rounded-md border border-line-strong bg-raised px-2 py-1 text-small break-words text-ink shadow-lift animate-[appear_.12s]"
    >
      {shown.text}
    </div>
  )
}

const tipId = 'tooltip'

/** Beside the target on its side, or on the opposite one where there is no room; never outside of the window. */
function toPosition(target: DOMRect, box: DOMRect, side: Side): [left: number, top: number] {
  const within = (value: number, size: number, all: number) =>
    Math.round(Math.max(margin, Math.min(value, all - size - margin)))
  const upright = side === 'top' || side === 'bottom'
  const before = upright ? target.top - gap - box.height : target.left - gap - box.width
  const after = upright ? target.bottom + gap : target.right + gap
  const fitsBefore = before >= margin
  const fitsAfter = upright ? after + box.height <= innerHeight - margin : after + box.width <= innerWidth - margin
  const first = side === 'top' || side === 'left'
  const along = first ? (fitsBefore || !fitsAfter ? before : after) : fitsAfter || !fitsBefore ? after : before
  const across = upright
    ? within(target.left + (target.width - box.width) / 2, box.width, innerWidth)
    : within(target.top + (target.height - box.height) / 2, box.height, innerHeight)
  return upright ? [across, within(along, box.height, innerHeight)] : [within(along, box.width, innerWidth), across]
}
