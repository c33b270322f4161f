import type { Bar, Kind } from './lanes.ts';

/** Colours of the page, resolved for a canvas. */
export interface Ink {
  readonly of: Readonly<Record<Kind, string>>;
  readonly ground: string;
  readonly raised: string;
  readonly line: string;
  readonly text: string;
  readonly dim: string;
  readonly bad: string;
  readonly link: string;
  readonly mono: string;
}

export function inkOf(element: Element): Ink {
  const style = getComputedStyle(element);
  // Custom properties are not computed to colours; the probe resolves `light-dark()`.
  const probe = document.createElement('span');
  // The colours of forced-colors mode are in the properties already.
  probe.style.setProperty('forced-color-adjust', 'none');
  element.append(probe);
  const color = (name: string) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const ink: Ink = {
    of: {
      request: color('span-request'),
      tool: color('span-tool'),
      waiting: color('span-waiting'),
      approval: color('span-approval'),
      queued: color('span-queued'),
      idle: color('line'),
    },
    ground: color('ground'),
    raised: color('raised'),
    line: color('line'),
    text: color('text'),
    dim: color('dim'),
    bad: color('bad'),
    link: color('link'),
    mono: style.getPropertyValue('--mono') || 'monospace',
  };
  probe.remove();
  return ink;
}

/** Paints a bar; kinds also differ in shape, so that nothing depends on colour alone. */
export function paintBar(
  pen: CanvasRenderingContext2D,
  ink: Ink,
  bar: Bar,
  x: number,
  y: number,
  width: number,
  height: number,
): void {
  const wide = Math.max(1, width);
  pen.fillStyle = ink.of[bar.kind];
  switch (bar.kind) {
    case 'idle':
      pen.fillRect(x, y + height / 2 - 0.5, wide, 1);
      return;
    case 'queued':
      for (let dot = x; dot < x + wide; dot += 5) pen.fillRect(dot, y + height / 2 - 1, 2, 2);
      return;
    case 'waiting':
      pen.globalAlpha = 0.45;
      pen.fillRect(x, y + height * 0.3, wide, height * 0.4);
      pen.globalAlpha = 1;
      return;
    case 'tool':
      pen.fillRect(x, y + height * 0.15, wide, height * 0.7);
      break;
    default:
      pen.fillRect(x, y, wide, height);
  }
  if (bar.status === 'error' || bar.status === 'denied' || bar.status === 'interrupted') {
    pen.fillStyle = ink.bad;
    pen.fillRect(x, y + height - 3, Math.max(2, wide), 3);
  }
}

const CHARACTER = 6.2;

/** Paints as much of the text as fits into the width. */
export function paintLabel(
  pen: CanvasRenderingContext2D,
  ink: Ink,
  text: string,
  x: number,
  y: number,
  width: number,
  onBar: boolean,
): void {
  const most = Math.floor((width - 8) / CHARACTER);
  if (most < 3) return;
  pen.fillStyle = onBar ? ink.ground : ink.dim;
  pen.fillText(text.length <= most ? text : `${text.slice(0, most - 1)}…`, x + 4, y);
}

/** Paints an arrow from one agent to another, with its head at the second point. */
export function paintArrow(
  pen: CanvasRenderingContext2D,
  x1: number,
  y1: number,
  x2: number,
  y2: number,
  dashed: boolean,
): void {
  pen.setLineDash(dashed ? [4, 3] : []);
  const bend = Math.max(12, Math.abs(x2 - x1) / 3);
  pen.beginPath();
  pen.moveTo(x1, y1);
  pen.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2 - 5, y2);
  pen.stroke();
  pen.setLineDash([]);
  pen.beginPath();
  pen.moveTo(x2, y2);
  pen.lineTo(x2 - 6, y2 - 3.5);
  pen.lineTo(x2 - 6, y2 + 3.5);
  pen.fill();
}
