// Virtual time: it plays, pauses and jumps, and notifies listeners.

export const SPEEDS = [1 / 1000, 1 / 500, 1 / 200, 1 / 100, 1 / 50, 1 / 20, 1 / 10, 1 / 5, 1 / 2, 1];

export class Player {
  constructor(onTime) {
    this.t = 0;
    this.end = 1;
    this.speed = 1 / 50;
    this.isPlaying = false;
    this.onTime = onTime;
    this.last = null;
  }

  play(wanted = true) {
    this.isPlaying = wanted;
    this.last = null;
    if (wanted) requestAnimationFrame((now) => this.frame(now));
    this.onTime();
  }

  frame(now) {
    if (!this.isPlaying) return;
    // After a pause of the page, time does not jump.
    const passed = this.last === null ? 0 : Math.min((now - this.last) / 1000, 0.1);
    this.last = now;
    this.t = Math.min(this.end, this.t + passed * this.speed);
    if (this.t >= this.end) this.isPlaying = false;
    this.onTime();
    if (this.isPlaying) requestAnimationFrame((later) => this.frame(later));
  }

  seek(t) {
    this.t = Math.min(Math.max(t, 0), this.end);
    this.onTime();
  }
}
