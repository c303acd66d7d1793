import { createLink } from '@tanstack/react-router'
import { LoaderCircle, type LucideIcon } from 'lucide-react'
import type { AnchorHTMLAttributes, ButtonHTMLAttributes, ReactNode, Ref } from 'react'
import { cx } from './class-names.ts'
import { Tooltip } from './Tooltip.tsx'

type Look = {
  /** main: the one action of a page or dialog. bad: loses something. bare: no border. */
  variant?: 'main' | 'plain' | 'bare' | 'bad' | 'bad-main'
  size?: 'sm' | 'md' | 'lg'
  icon?: LucideIcon
}

type ButtonProps = Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'disabled'> &
  Look & {
    /** Why it cannot be pressed now. A disabled button stays focusable, so that the reason can be read. */
    disabledReason?: string | null | false
    /** While its action is running, it shows a spinner and ignores clicks. */
    busy?: boolean
    ref?: Ref<HTMLButtonElement>
  }

export function Button({
  variant,
  size,
  icon,
  disabledReason,
  busy,
  children,
  className,
  onClick,
  ...rest
}: ButtonProps) {
  const off = Boolean(disabledReason)
  const button = (
    <button
      type="button"
      {...rest}
      aria-disabled={off || busy || undefined}
      aria-busy={busy || undefined}
      onClick={off || busy ? (event) => event.preventDefault() : onClick}
      className={cx(buttonStyle({ variant, size }), off && 'opacity-55', className)}
    >
      <ButtonContent icon={icon} busy={busy}>
        {children}
      </ButtonContent>
    </button>
  )
  return <Tooltip content={disabledReason || undefined}>{button}</Tooltip>
}

type IconButtonProps = Omit<ButtonProps, 'children' | 'icon'> & { icon: LucideIcon; label: string }

/** A square button with an icon only; its label is its name for readers and its tooltip. */
export function IconButton({
  icon: Icon,
  label,
  disabledReason,
  busy,
  variant = 'bare',
  size = 'md',
  className,
  onClick,
  ...rest
}: IconButtonProps) {
  const off = Boolean(disabledReason)
  return (
    <Tooltip content={disabledReason || label}>
      <button
        type="button"
        {...rest}
        aria-label={label}
        aria-disabled={off || busy || undefined}
        onClick={off || busy ? (event) => event.preventDefault() : onClick}
        className={cx(buttonStyle({ variant, size }), squares[size], off && 'opacity-45', className)}
      >
        {busy ? <LoaderCircle aria-hidden className="animate-[turn_.9s_linear_infinite]" /> : <Icon aria-hidden />}
      </button>
    </Tooltip>
  )
}

type AnchorProps = AnchorHTMLAttributes<HTMLAnchorElement> & Look & { ref?: Ref<HTMLAnchorElement> }

/** For a target that is not a page of the console, such as a file. */
export function ButtonAnchor({ variant, size, icon, children, className, ...rest }: AnchorProps) {
  return (
    <a {...rest} className={cx(buttonStyle({ variant, size }), className)}>
      <ButtonContent icon={icon}>{children}</ButtonContent>
    </a>
  )
}

/** A link that looks like a button: `<ButtonLink {...links.project(slug, id)} variant="main">`. */
export const ButtonLink = createLink(ButtonAnchor)

const squares = { sm: 'w-[26px] px-0!', md: 'w-[30px] px-0!', lg: 'w-[36px] px-0!' }

const sizes = {
  sm: 'h-[26px] px-2 text-small gap-1.5',
  md: 'h-[30px] px-[11px] text-body gap-[7px]',
  lg: 'h-9 px-4 text-body gap-2',
}

const variants = {
  main: 'bg-accent border-accent text-accent-ink hover:bg-accent-hover hover:border-accent-hover',
  plain: 'bg-surface border-line-strong text-ink hover:bg-hover',
  bare: 'border-transparent text-ink-2 hover:bg-hover hover:text-ink',
  bad: 'bg-surface border-line-strong text-danger hover:bg-hover',
  'bad-main': 'bg-danger border-danger text-danger-ink hover:opacity-90',
}

const buttonStyle = ({ variant = 'plain', size = 'md' }: Look) =>
  cx(
    'inline-flex items-center justify-center rounded-md border font-medium whitespace-nowrap select-none transition-colors',
    sizes[size],
    variants[variant],
  )

function ButtonContent({ icon: Icon, busy, children }: { icon?: LucideIcon; busy?: boolean; children: ReactNode }) {
  return (
    <>
      {busy ? (
        <LoaderCircle aria-hidden className="animate-[turn_.9s_linear_infinite]" />
      ) : (
        Icon && <Icon aria-hidden />
      )}
      {children}
    </>
  )
}
