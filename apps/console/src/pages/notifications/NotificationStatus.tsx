import { State } from '../../components/State.tsx'

type Props = { of: { active: boolean; problem?: string | null }; reason?: boolean }

/** Active, inactive, or switched off by Crux; `reason` shows the problem on hover. */
export const NotificationStatus = ({ of: { active, problem }, reason }: Props) => (
  <State
    kind="notification"
    value={active ? 'active' : problem ? 'switched-off' : 'inactive'}
    reason={reason ? problem : undefined}
  />
)
