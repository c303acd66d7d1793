import { createPortal } from 'react-dom'
import toast, { Toaster } from 'react-hot-toast'
import { describeError } from '../errors/describe-error.ts'

/** react-hot-toast's defaults are the specification's: 4 s, success 2 s, at most 20, 350 px. One per text at a time. */
export const toastSuccess = (text: string) => toast.success(text, { id: `success:${text}` })
export const toastWarning = (text: string) =>
  toast(text, { id: `warning:${text}`, duration: 5000, className: 'toast-warning', icon: '!' })
export const toastText = (text: string) => toast.error(text, { id: `error:${text}`, className: 'toast-error' })

/** The toast of a failed call: the server's message, or one general sentence for 500 and above. */
export const toastError = (error: unknown) => toastText(describeError(error).text)

/** Mounted once in the root. */
export function Toasts() {
  // Beside the dialogs, not below them: dialogs are outside of the root too.
  return createPortal(
    <Toaster
      position="top-center"
      // Below the top bar, whose search and menu stay in reach.
      containerStyle={{ top: 56 }}
      toastOptions={{
        className: 'toast',
        success: { iconTheme: { primary: 'var(--state-running)', secondary: 'var(--surface-raised)' } },
        error: { iconTheme: { primary: 'var(--danger-ink)', secondary: 'var(--danger)' } },
      }}
      containerClassName="z-70!"
    />,
    document.body,
  )
}
