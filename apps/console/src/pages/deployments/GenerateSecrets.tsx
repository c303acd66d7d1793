import { listSecretGroups, type SecretGroup } from '@crux/config-editor'
import type { ResponseOf } from '@crux/contract'
import { Dices, KeyRound } from 'lucide-react'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '../../components/Button.tsx'
import { Copyable } from '../../components/Copyable.tsx'
import { cx } from '../../components/class-names.ts'
import { confirm } from '../../components/confirm.tsx'
import { FieldError } from '../../components/Field.tsx'
import { ShownOnceDialog } from '../../components/ShownOnceDialog.tsx'
import type { Preview } from './change-lines.ts'
import { useGenerateSecrets } from './use-generate-secrets.ts'

type Props = { teamSlug: string; deployment: ResponseOf<'deployments.get'>; preview: Preview; className?: string }

/** Generates values for keys that name a group and have none. Keys of one group get the same value, which is shown once. */
export function GenerateSecrets({ teamSlug, deployment, preview, className }: Props) {
  const { t } = useTranslation('deployments')
  const groups = useMemo(() => listSecretGroups(deployment, preview), [deployment, preview])
  const { generate, busy, error, isInterrupted, denied, shown, close } = useGenerateSecrets(teamSlug, deployment)
  const continued = groups.filter(isInterrupted)
  const missing = groups.filter((group) => group.state === 'missing' && !isInterrupted(group))
  const partial = groups.filter((group) => group.state === 'partial' && !isInterrupted(group))
  const fresh = [...continued, ...missing]
  const off =
    denied ??
    (!deployment.mutable ? t('generate.immutable') : null) ??
    (!deployment.publicKey ? t('generate.noKey', { node: deployment.node.name }) : null)
  const replaceLabel = ({ members }: SecretGroup) =>
    t(members.length === 2 ? 'generate.replaceBoth' : 'generate.replaceAll')
  const replace = async (group: SecretGroup) => {
    const sure = await confirm({
      title: t('generate.replaceTitle', { group: group.group }),
      text: t('generate.replaceText', { keys: listKeys(group) }),
      action: replaceLabel(group),
      danger: true,
    })
    if (sure) await generate([group])
  }
  if (fresh.length + partial.length === 0 && !error && !shown) return null
  return (
    <section aria-label={t('generate.title')} className={cx('grid gap-2.5', className)}>
      {fresh.length > 0 && (
        <div className="grid gap-2">
          <h3 className="flex items-center gap-2 font-strong">
            <KeyRound aria-hidden className="text-accent" />
            {t('generate.title')}
          </h3>
          <p className="text-ink-2">{t('generate.text')}</p>
          <GroupList groups={fresh} />
          <div>
            <Button icon={Dices} busy={busy} disabledReason={off} onClick={() => void generate(fresh)}>
              {continued.length > 0 ? t('generate.retry') : t('generate.action', { count: fresh.length })}
            </Button>
          </div>
        </div>
      )}
      {partial.map((group) => (
        <div key={group.group} className="grid gap-2">
          <p className="break-words">
            {t('generate.partial', {
              group: group.group,
              set: listKeys(group, true),
              unset: listKeys(group, false),
            })}
          </p>
          <div>
            <Button busy={busy} disabledReason={off} onClick={() => void replace(group)}>
              {replaceLabel(group)}
            </Button>
          </div>
        </div>
      ))}
      {error && <FieldError>{error}</FieldError>}
      {shown && (
        <ShownOnceDialog
          title={t('generate.shownTitle', { count: shown.length })}
          text={t('generate.shownText')}
          done={t('generate.shownDone')}
          onClose={close}
        >
          {shown.map(({ group, value, keys }) => (
            <div key={group} className="grid gap-1">
              <Copyable label={group} text={value} />
              <p className="mono text-small break-words text-ink-2">{keys.join(', ')}</p>
            </div>
          ))}
        </ShownOnceDialog>
      )}
    </section>
  )
}

/** Each group with the keys that get its value. */
function GroupList({ groups }: { groups: readonly SecretGroup[] }) {
  const { t } = useTranslation('deployments')
  return (
    <ul aria-label={t('generate.groups')} className="grid gap-1">
      {groups.map((group) => (
        <li key={group.group} className="min-w-0 break-words">
          <b className="mono font-semibold">{group.group}</b> <span className="mono text-ink-2">{listKeys(group)}</span>
        </li>
      ))}
    </ul>
  )
}

/** @param hasValue only the keys that have a value, or only those that have none */
const listKeys = ({ members }: SecretGroup, hasValue?: boolean): string =>
  members
    .filter((member) => hasValue === undefined || member.hasValue === hasValue)
    .map(({ container, key }) => `${container}: ${key}`)
    .join(', ')
