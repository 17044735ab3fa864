import type { ComponentChildren } from 'preact';

function Icon({ children, size = 20 }: { children: ComponentChildren; size?: number }) {
  return (
    <svg
      class="icon"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="2"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      {children}
    </svg>
  );
}

export const SendIcon = () => (
  <Icon size={22}>
    <path d="M12 20V5M5.5 11.5 12 5l6.5 6.5" />
  </Icon>
);
export const AttachIcon = () => (
  <Icon size={22}>
    <path d="m20 11.5-8.2 8.2a5 5 0 0 1-7.1-7.1l8.5-8.5a3.3 3.3 0 0 1 4.7 4.7l-8.5 8.5a1.7 1.7 0 0 1-2.4-2.4l7.8-7.8" />
  </Icon>
);
export const MicrophoneIcon = () => (
  <Icon size={22}>
    <rect x="9" y="3" width="6" height="11" rx="3" />
    <path d="M5.5 11.5a6.5 6.5 0 0 0 13 0M12 18v3" />
  </Icon>
);
export const CheckIcon = () => (
  <Icon size={16}>
    <path d="m5 12.5 4.5 4.5L19 7.5" />
  </Icon>
);
export const ReadIcon = () => (
  <Icon size={16}>
    <path d="m2 12.5 4.5 4.5L16 7.5M12 16l1 1 9.5-9.5" />
  </Icon>
);
export const ReplyIcon = () => (
  <Icon size={16}>
    <path d="M10 8V4l-7 7 7 7v-4c5 0 8 1.5 11 5-1-6-4-11-11-11Z" />
  </Icon>
);
export const CallIcon = () => (
  <Icon size={16}>
    <path d="M5 3.5h4l1.5 5-2.5 2a13 13 0 0 0 5.5 5.5l2-2.5 5 1.5v4a1.5 1.5 0 0 1-1.5 1.5A17.5 17.5 0 0 1 3.5 5 1.5 1.5 0 0 1 5 3.5Z" />
  </Icon>
);
export const CopyIcon = () => (
  <Icon size={16}>
    <rect x="9" y="9" width="11" height="11" rx="2" />
    <path d="M5 15H4V6a2 2 0 0 1 2-2h9v1" />
  </Icon>
);
export const ClockIcon = () => (
  <Icon size={14}>
    <circle cx="12" cy="12" r="9" />
    <path d="M12 7v5l3 2" />
  </Icon>
);
export const AlertIcon = () => (
  <Icon size={14}>
    <circle cx="12" cy="12" r="9" />
    <path d="M12 7.5v5M12 16.3v.2" />
  </Icon>
);
export const ListIcon = () => (
  <Icon size={18}>
    <path d="M9 6h11M9 12h11M9 18h11M4.5 6h.01M4.5 12h.01M4.5 18h.01" />
  </Icon>
);
export const CloseIcon = () => (
  <Icon>
    <path d="M6 6l12 12M18 6 6 18" />
  </Icon>
);
export const RestartIcon = () => (
  <Icon>
    <path d="M4.5 12a7.5 7.5 0 1 0 2.2-5.3L4 9.4M4 4v5.4h5.4" />
  </Icon>
);
export const DownIcon = () => (
  <Icon size={18}>
    <path d="M12 5v14M5.5 12.5 12 19l6.5-6.5" />
  </Icon>
);
export const FileIcon = () => (
  <Icon size={22}>
    <path d="M14 3H7a2 2 0 0 0-2 2v14a2 2 0 0 0 2 2h10a2 2 0 0 0 2-2V8z" />
    <path d="M14 3v5h5" />
  </Icon>
);
export const ChatIcon = () => (
  <Icon size={28}>
    <path d="M20 12a8 8 0 0 1-11.6 7.1L4 20l1-4.2A8 8 0 1 1 20 12z" />
  </Icon>
);
export const LinkIcon = () => (
  <Icon size={18}>
    <path d="M14 5h5v5M19 5l-8 8M17 14v4a1 1 0 0 1-1 1H6a1 1 0 0 1-1-1V8a1 1 0 0 1 1-1h4" />
  </Icon>
);
export const PlaceIcon = () => (
  <Icon size={28}>
    <path d="M12 21s-6.5-5.6-6.5-11a6.5 6.5 0 0 1 13 0c0 5.4-6.5 11-6.5 11Z" />
    <circle cx="12" cy="10" r="2.3" />
  </Icon>
);
export const PersonIcon = () => (
  <Icon size={28}>
    <circle cx="12" cy="8" r="3.5" />
    <path d="M5 20c.7-3.6 3.5-5.5 7-5.5s6.3 1.9 7 5.5" />
  </Icon>
);
