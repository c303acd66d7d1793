import type { ApiError } from '@crux/client'
import { useBlocker } from '@tanstack/react-router'
import { CircleX, Lock } from 'lucide-react'
import { type FormEvent, type KeyboardEvent, type ReactNode, useEffect, useId, useRef } from 'react'
import type { FieldValues, UseFormReturn } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { registerUnsavedForm, resetSignedOutNotice } from '../api/session.ts'
import { Button } from '../components/Button.tsx'
import { confirm } from '../components/confirm.tsx'
import { describeError } from '../errors/describe-error.ts'
import { lazyComponent } from '../loading/lazy-component.tsx'
import { locateFieldErrors, showFieldErrors } from './server-error.ts'

// The sign-in pages use the shell without a sheet.
const Dialog = lazyComponent(async () => (await import('../components/Dialog.tsx')).Dialog)

type ShellProps<V extends FieldValues, Out> = {
  // biome-ignore lint/suspicious/noExplicitAny: react-hook-form's context type parameter; nothing here reads it
  form: UseFormReturn<V, any, Out>
  /** Resolves when it is done; a rejection keeps the form open with what was typed. */
  onSubmit: (values: Out) => Promise<unknown>
  submitLabel: string
  loading: boolean
  error: ApiError | null
  /** Names of the server's properties where they differ from the form's fields: `{ 'details.url': 'url' }`. */
  fields?: Record<string, string>
  /** Why the form cannot be sent at all. */
  disabledReason?: string | null
  children: ReactNode
}

type SheetProps<V extends FieldValues, Out> = Omit<
  ShellProps<V, Out>,
  'submitLabel' | 'loading' | 'error' | 'disabledReason'
> & {
  /** Of `useCall`. A sheet may also be reached by an address, past the disabled button that leads to it: `denied` is the reason why it is disabled. */
  call: { isPending: boolean; error: ApiError | null; denied: string | null }
  /** "Save" by default. */
  submitLabel?: string
  title: string
  description?: ReactNode
  onClose: () => void
  width?: string
}

/** A create or edit form in a sheet. Mount it only while it is open: `{open && <RegistryCreate ... />}`. */
export function FormSheet<V extends FieldValues, Out>({
  title,
  description,
  onClose,
  width,
  call: { isPending, error, denied },
  submitLabel,
  ...given
}: SheetProps<V, Out>) {
  const { t } = useTranslation()
  const shell = {
    ...given,
    loading: isPending,
    // A sheet that is opened again must not show the previous error; the call may belong to the page.
    error: given.form.formState.submitCount > 0 ? error : null,
    disabledReason: denied,
    submitLabel: submitLabel ?? t('save'),
  }
  const { id, submit, mayLeave, banner } = useFormShell(shell)
  const close = async () => {
    if (await mayLeave()) onClose()
  }
  return (
    <Dialog
      open
      shape="sheet"
      title={title}
      description={description}
      width={width}
      onClose={() => void close()}
      initialFocus={(content) =>
        content.querySelector('form input:not([disabled]), form textarea, form select, form button')
      }
      footer={
        <>
          <Button onClick={() => void close()}>{t('cancel')}</Button>
          <Button type="submit" form={id} variant="main" busy={shell.loading} disabledReason={shell.disabledReason}>
            {shell.submitLabel}
          </Button>
        </>
      }
    >
      <form id={id} noValidate onSubmit={submit} onKeyDown={submitOnControlEnter} className="grid gap-4 pt-1">
        {banner}
        {shell.disabledReason && <FormNote>{shell.disabledReason}</FormNote>}
        {shell.children}
      </form>
    </Dialog>
  )
}

/**
 * The same for a page that is a form: sign-in, first team. The button is below the fields.
 *
 * @param shell.plain another button of the page is its main one
 */
export function FormPanel<V extends FieldValues, Out>(
  shell: ShellProps<V, Out> & { guard?: boolean; plain?: boolean },
) {
  const { id, submit, banner } = useFormShell({ ...shell, guard: shell.guard ?? false })
  return (
    <form id={id} noValidate onSubmit={submit} onKeyDown={submitOnControlEnter} className="grid gap-3.5">
      {banner}
      {shell.children}
      <Button
        type="submit"
        variant={shell.plain ? 'plain' : 'main'}
        size="lg"
        busy={shell.loading}
        disabledReason={shell.disabledReason}
      >
        {shell.submitLabel}
      </Button>
    </form>
  )
}

/** The line above the fields for what belongs to none of them. */
export function FormBanner({ children }: { children: ReactNode }) {
  return (
    <p role="alert" className="flex items-center gap-2 rounded-md px-2.5 py-2 tinted-failed text-failed">
      <CircleX aria-hidden />
      <span>{children}</span>
    </p>
  )
}

/** Why the form cannot be submitted. */
function FormNote({ children }: { children: ReactNode }) {
  return (
    <p role="note" className="flex items-center gap-2 rounded-md bg-sunken px-2.5 py-2 text-ink-2">
      <Lock aria-hidden />
      <span>{children}</span>
    </p>
  )
}

function useFormShell<V extends FieldValues, Out>({
  form,
  onSubmit,
  loading,
  error,
  fields,
  guard = true,
  disabledReason,
}: ShellProps<V, Out> & { guard?: boolean }) {
  const { t } = useTranslation()
  const id = useId()
  // True while the form itself leaves the page: it was sent, or the user agreed.
  const leaving = useRef(false)
  const dirty = form.formState.isDirty
  const general =
    error && locateFieldErrors(error, form.getValues(), fields).length === 0 ? describeError(error).text : null

  // Each error is shown once: again at each render, it would take the focus from what is typed next.
  const names = useRef(fields)
  names.current = fields
  useEffect(() => {
    if (error) showFieldErrors(form, locateFieldErrors(error, form.getValues(), names.current))
  }, [error, form])

  useEffect(() => (guard && dirty ? registerUnsavedForm() : undefined), [guard, dirty])

  const mayLeave = async () => {
    if (!guard || leaving.current || !form.formState.isDirty) return true
    leaving.current = await confirm({
      title: t('form.leaveTitle'),
      text: t('form.leaveText'),
      action: t('form.leave'),
      danger: true,
    })
    return leaving.current
  }
  useBlocker({
    shouldBlockFn: async () => !(await mayLeave()),
    enableBeforeUnload: () => guard && dirty && !leaving.current,
    disabled: !guard || !dirty,
  })

  const submit = (event: FormEvent) => {
    // A form in a dialog must not reach a form around it.
    event.stopPropagation()
    if (loading || disabledReason) return event.preventDefault()
    return form.handleSubmit(async (values) => {
      leaving.current = true
      resetSignedOutNotice()
      try {
        await onSubmit(values)
      } catch {
        // The failure comes back as the `error` prop and is shown there.
        leaving.current = false
      }
    })(event)
  }
  return { id, submit, mayLeave, banner: general && <FormBanner>{general}</FormBanner> }
}

const submitOnControlEnter = (event: KeyboardEvent<HTMLFormElement>) => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit()
}
