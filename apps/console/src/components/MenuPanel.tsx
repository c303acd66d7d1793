import { Menu as Radix } from 'radix-ui/internal'
import { type ReactNode, type RefObject, useEffect, useRef } from 'react'
import { cx } from './class-names.ts'
import { MenuParts } from './menu-parts.ts'

type Props = {
  anchor: RefObject<HTMLElement | null>
  align: 'start' | 'end'
  width?: string
  /** Opened from the keyboard: the first entry has the focus then. */
  byKeyboard: boolean
  onClose: () => void
  children: ReactNode
}

/** The open menu; loaded when the first menu is opened. */
export function MenuPanel({ anchor, align, width, byKeyboard, onClose, children }: Props) {
  const content = useRef<HTMLDivElement>(null)
  const leftOutside = useRef(false)
  useEffect(() => {
    if (byKeyboard) content.current?.querySelector<HTMLElement>('[role^=menuitem]:not([data-disabled])')?.focus()
  }, [byKeyboard])
  return (
    <Radix.Root open modal={false} onOpenChange={(open) => !open && onClose()}>
      <Radix.Anchor virtualRef={anchor as RefObject<HTMLElement>} />
      <Radix.Portal>
        <Radix.Content
          ref={content}
          align={align}
          sideOffset={4}
          collisionPadding={8}
          loop
          aria-labelledby={anchor.current?.id}
          onPointerDownOutside={(event) => {
            // A click on the trigger already closes the menu.
            if (event.target instanceof Node && anchor.current?.contains(event.target)) event.preventDefault()
          }}
          onInteractOutside={() => {
            leftOutside.current = true
          }}
          onCloseAutoFocus={(event) => {
            event.preventDefault()
            if (!leftOutside.current) anchor.current?.focus()
          }}
          className={cx(
            'z-50 rounded-box border border-line bg-raised p-1 shadow-lift animate-[appear_.1s]',
            width ?? 'min-w-48 max-w-80',
          )}
        >
          <MenuParts value={Radix}>{children}</MenuParts>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
