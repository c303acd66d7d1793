import { type AddedSecret, type SecretRow, type SecretState, secretSources } from '@crux/config-editor'
import { useQuery } from '@tanstack/react-query'
import {
  Asterisk,
  CircleDashed,
  CircleX,
  GitMerge,
  KeyRound,
  Layers,
  ServerCog,
  ShieldCheck,
  Undo2,
  X,
} from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../../api/client.ts'
import { Button, IconButton } from '../../../components/Button.tsx'
import { cx } from '../../../components/class-names.ts'
import { FieldError, TextInput } from '../../../components/Field.tsx'
import { TextLink } from '../../../components/TextLink.tsx'
import { links } from '../../../routing/links.ts'
import { useConfigForm } from '../form/config-context.ts'
import { SecretInput } from './SecretInput.tsx'
import { useSecretValues } from './use-secret-values.tsx'

const line = 'grid gap-x-2 gap-y-1 px-3 py-1.5 md:grid-cols-[30%_minmax(0,1fr)_184px] md:items-center'

type Props = { shown: boolean; off: string | null; onPaste: (text: string) => boolean }

/** A key with the state of its value, and the place to type another one. Stored values are never shown, because only the node can decrypt them. */
export function SecretRowLine({ row, shown, off, onPaste }: Props & { row: SecretRow }) {
  const { t } = useTranslation(['configuration', 'common'])
  const { typed, errors, overtaken, setValue, setRemoved } = useSecretValues()
  const { key, own, state, locked } = row
  const [asked, setAsked] = useState(false)
  const text = typed.values.get(key)
  const removed = typed.removed.has(key)
  const open = text !== undefined || (state !== 'sealed' && state !== 'on-node' && !removed)
  const error = errors.get(key)
  return (
    <li data-part={`secrets.${key}`} className={line}>
      <div className="min-w-0">
        <span className={cx('mono mr-1 break-all', removed && 'text-ink-3 line-through')}>{key}</span>
        {row.required && (
          <span role="img" aria-label={t('secrets.required')} data-tip={t('secrets.required')} className="text-failed">
            <Asterisk aria-hidden className="inline" />
          </span>
        )}
        {row.group && (
          <span className="block text-small break-words text-ink-3">{t('secrets.group', { group: row.group })}</span>
        )}
        <Sources name={key} />
      </div>
      <div className="min-w-0">
        {removed ? (
          <span className="text-ink-3">{t(locked ? 'secrets.clears' : 'secrets.goes')}</span>
        ) : open ? (
          <SecretInput
            label={t('secrets.valueOf', { key })}
            value={text ?? ''}
            shown={shown}
            disabled={off !== null}
            error={error}
            autoFocus={asked}
            placeholder={state === 'below' || state === 'shared' ? t('secrets.override') : undefined}
            onChange={(value) => setValue(key, value)}
            onPaste={onPaste}
          />
        ) : (
          <span className="flex items-center gap-2">
            <span aria-hidden className="text-ink-3">
              ••••••••
            </span>
            <Button
              size="sm"
              disabledReason={off}
              onClick={() => {
                setAsked(true)
                setValue(key, '')
              }}
            >
              {t('secrets.replace')}
            </Button>
          </span>
        )}
      </div>
      <span className="flex items-center gap-2 max-md:justify-between md:justify-self-end">
        <StateChip state={text ? 'typed' : state} />
        {text !== undefined || removed ? (
          <IconButton
            icon={Undo2}
            size="sm"
            label={t('secrets.undo', { key })}
            onClick={() => (removed ? setRemoved(key, false) : setValue(key, null))}
          />
        ) : (
          <IconButton
            icon={X}
            size="sm"
            label={t(locked ? 'secrets.clear' : 'removeRow', { key })}
            disabledReason={off ?? (own ? null : t('inheritedRow'))}
            onClick={() => setRemoved(key, true)}
          />
        )}
      </span>
      {error ? (
        <span className="md:col-span-3">
          <FieldError>{error}</FieldError>
        </span>
      ) : (
        overtaken.has(key) && (
          <p role="status" className="flex items-start gap-1.5 text-small text-progress md:col-span-3">
            <GitMerge aria-hidden className="mt-0.5" />
            {t('secrets.overtaken')}
          </p>
        )
      )}
    </li>
  )
}

/** A key of this layer alone, not stored yet. */
export function AddedSecretRow({ row, shown, off, onPaste }: Props & { row: AddedSecret }) {
  const { t } = useTranslation(['configuration', 'common'])
  const { setAdded, problems, errors } = useSecretValues()
  const problem = problems.get(row.id)
  const error = problem ? t(`secrets.key.${problem}`, { key: row.key }) : errors.get(row.key)
  return (
    <li data-row={row.id} className={line}>
      <TextInput
        mono
        aria-label={t('secrets.newKey')}
        aria-invalid={problem ? true : undefined}
        placeholder="API_TOKEN"
        autoComplete="off"
        value={row.key}
        onChange={(event) => setAdded(row.id, { key: event.target.value.trim() })}
        onPaste={(event) => {
          if (onPaste(event.clipboardData.getData('text/plain'))) event.preventDefault()
        }}
      />
      <SecretInput
        label={t('secrets.valueOf', { key: row.key || t('secrets.newKey') })}
        value={row.value}
        shown={shown}
        disabled={off !== null}
        onChange={(value) => setAdded(row.id, { value })}
        onPaste={onPaste}
      />
      <span className="justify-self-end">
        <IconButton
          icon={X}
          size="sm"
          label={t('removeRow', { key: row.key })}
          onClick={() => setAdded(row.id, null)}
        />
      </span>
      {error && (
        <span className="md:col-span-3">
          <FieldError>{error}</FieldError>
        </span>
      )}
    </li>
  )
}

/** The other layers that name the key, with links. A value here applies to this layer and overrides those of lower layers. */
function Sources({ name }: { name: string }) {
  const { t } = useTranslation(['configuration', 'common'])
  const { kind, teamSlug, configId } = useConfigForm()
  const { data } = useQuery(apiQuery('container-configurations.relations', { params: { teamSlug, configId } }))
  const sources = data ? secretSources(name, kind, data) : []
  if (sources.length === 0) return null
  return (
    <span className="block text-small break-words text-ink-3">
      {t('secrets.namedBy')}{' '}
      {sources.map((source, index) => (
        <span key={source.configId}>
          {index > 0 && ', '}
          <TextLink inline {...links.containerConfiguration(teamSlug, source.configId)}>
            {t(`secrets.source.${source.source}`, { name: source.name })}
          </TextLink>
        </span>
      ))}
    </span>
  )
}

const appearances: Record<SecretState | 'typed', { icon: typeof X; tone: string }> = {
  'on-node': { icon: ServerCog, tone: 'text-running' },
  sealed: { icon: ShieldCheck, tone: 'text-accent' },
  below: { icon: Layers, tone: 'text-ink-2' },
  shared: { icon: Layers, tone: 'text-ink-2' },
  typed: { icon: KeyRound, tone: 'text-progress' },
  stale: { icon: CircleX, tone: 'text-failed' },
  missing: { icon: CircleX, tone: 'text-failed' },
  unset: { icon: CircleDashed, tone: 'text-ink-2' },
}

function StateChip({ state }: { state: SecretState | 'typed' }) {
  const { t } = useTranslation(['configuration', 'common'])
  const { icon: Icon, tone } = appearances[state]
  return (
    <span
      data-state={state}
      data-tip={t(`secrets.help.${state}`)}
      className={cx('inline-flex items-center gap-1.5 text-small whitespace-nowrap', tone)}
    >
      <Icon aria-hidden />
      {t(`secrets.state.${state}`)}
    </span>
  )
}
