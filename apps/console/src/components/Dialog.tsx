import { X } from 'lucide-react'
import { Dialog as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { cx } from './class-names.ts'
import { giveFocusBack } from './focus-trail.ts'

type Props = {
  open: boolean
  onClose: () => void
  title: string
  description?: ReactNode
  children: ReactNode
  footer?: ReactNode
  /** A sheet is at the right edge and holds forms; a dialog is in the middle and asks questions. */
  shape?: 'dialog' | 'sheet'
  width?: string
  /** Where focus goes when it opens; by default the first control. */
  initialFocus?: (content: HTMLElement) => HTMLElement | null
}

/** Escape closes the topmost dialog or menu; focus is trapped and then returns to the previous element. */
export function Dialog({
  open,
  onClose,
  title,
  description,
  children,
  footer,
  shape = 'dialog',
  width,
  initialFocus,
}: Props) {
  const { t } = useTranslation()
  return (
    <Radix.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-veil animate-[appear_.12s]" />
        <Radix.Content
          {...(description ? {} : { 'aria-describedby': undefined })}
          tabIndex={-1}
          onCloseAutoFocus={giveFocusBack}
          onOpenAutoFocus={(event) => {
            const content = event.currentTarget
            if (!(content instanceof HTMLElement)) return
            event.preventDefault()
            // The close button does not get the focus, because users open a dialog to use it.
            const first = content.querySelector<HTMLElement>(
              '[data-body] :is(input, select, textarea, button, a[href])',
            )
            ;(initialFocus?.(content) ?? first ?? content).focus()
          }}
          className={cx(
            'fixed z-50 flex flex-col border-line bg-raised shadow-lift outline-none',
            shapes[shape],
            width ?? (shape === 'sheet' ? 'wide:w-[440px]' : 'wide:w-[460px]'),
          )}
        >
          <header className="flex shrink-0 items-start gap-3 px-5 pt-4 pb-2">
            <div className="min-w-0 flex-1">
              <Radix.Title className="text-lead font-semibold">{title}</Radix.Title>
              {description && <Radix.Description className="mt-0.5 text-ink-2">{description}</Radix.Description>}
            </div>
            {/* Without a tooltip, which would take the first Escape for itself. */}
            <button
              type="button"
              aria-label={t('close')}
              onClick={onClose}
              className="grid size-[26px] place-items-center rounded-md text-ink-2 hover:bg-hover hover:text-ink"
            >
              <X aria-hidden />
            </button>
          </header>
          <div data-body className="min-h-0 flex-1 overflow-y-auto px-5 pt-1 pb-4">
            {children}
          </div>
          {footer && (
            <footer className="flex shrink-0 flex-wrap items-center justify-end gap-2 border-t border-line px-5 py-3">
              {footer}
            </footer>
          )}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

const shapes = {
  dialog:
    'top-1/2 left-1/2 max-h-[85dvh] w-[calc(100vw-24px)] -translate-x-1/2 -translate-y-1/2 rounded-box border animate-[appear_.12s]',
  sheet: 'inset-y-0 right-0 w-full border-l animate-[slide-in_.16s_ease-out]',
}
