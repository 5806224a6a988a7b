"""The wearer's body: 52 joints in SMPL+H order, forward kinematics, postures and arm reach."""
